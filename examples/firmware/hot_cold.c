/*
 * An example of a firmware for Drivelab: a page map that keeps hot pages apart from cold ones.
 *
 *     drivelab simulate sim:bench-64gib --firmware ./hot_cold.so --write-ratio 1
 *     drivelab firmware profile zipf.toml --firmware examples/firmware/hot_cold.c --out run
 *
 * A page is hot if the host last wrote it recently: within as many writes as half the drive has
 * pages. Each plane has an open block for hot pages, one for cold pages and one for pages that
 * collection moves, so the pages of a block become invalid at about the same time. Writes try two
 * neighbouring planes in turn and use the one that holds fewer pages. The victim is the block with
 * the greatest benefit per cost: invalid pages times age over valid pages.
 *
 * hot_cold.rs is the same firmware in Rust and emits the same operations.
 */
#include "drivelab_firmware.h"

#include <stdlib.h>
#include <string.h>

enum { HOT, COLD, MOVED, FRONTIERS };

struct frontier {
    uint32_t next; /* the page that is programmed next */
    uint32_t left; /* pages left in its block */
};

struct plane {
    struct frontier open[FRONTIERS];
    uint32_t free_head, free_count; /* in the ring of its free blocks */
    uint32_t valid;                 /* pages that it holds */
};

enum { LOOKUPS, MOVES, HOT_WRITES, COLD_WRITES, VICTIMS_SEEN, COUNTS };

static const char *const COUNT_NAMES[COUNTS] = {
    "map_lookups", "pages_moved", "hot_writes", "cold_writes", "victims_looked_at",
};

struct firmware {
    struct drivelab_layout layout;
    struct plane *planes;
    uint32_t *map;       /* logical page -> physical page, or DRIVELAB_NOTHING */
    uint32_t *written;   /* logical page -> the host's writes when it was written last */
    uint32_t *owner;     /* physical page -> logical page, or DRIVELAB_NOTHING */
    uint32_t *count;     /* by block: valid pages */
    uint32_t *closed;    /* by block: the host's writes when it became full; 0 if it is not full */
    uint32_t *erases;    /* by block */
    uint32_t *free_ring; /* by plane and position */
    uint32_t turn;       /* the plane that is tried first */
    uint32_t writes;     /* of the host, so far */
    uint64_t counts[COUNTS];
};

uint32_t drivelab_firmware_version(void) { return DRIVELAB_FIRMWARE_VERSION; }

const char *drivelab_firmware_count_name(uint32_t index)
{
    return index < COUNTS ? COUNT_NAMES[index] : NULL;
}

uint64_t drivelab_firmware_count(const void *state, uint32_t index)
{
    const struct firmware *f = state;
    return f->counts[index];
}

uint32_t drivelab_firmware_erase_count(const void *state, uint32_t block)
{
    const struct firmware *f = state;
    return f->erases[block];
}

void drivelab_firmware_destroy(void *state)
{
    struct firmware *f = state;
    if (f == NULL)
        return;
    free(f->planes);
    free(f->map);
    free(f->written);
    free(f->owner);
    free(f->count);
    free(f->closed);
    free(f->erases);
    free(f->free_ring);
    free(f);
}

void *drivelab_firmware_create(const struct drivelab_layout *layout)
{
    /* Emptying a block needs another one for its pages. */
    if (layout->reserve_blocks < 1 || layout->blocks_per_plane <= layout->reserve_blocks + FRONTIERS)
        return NULL;
    size_t blocks = (size_t)layout->planes * layout->blocks_per_plane;
    size_t pages = blocks * layout->pages_per_block;
    struct firmware *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->layout = *layout;
    f->planes = calloc(layout->planes, sizeof *f->planes);
    f->map = malloc(layout->logical_pages * sizeof *f->map);
    f->written = calloc(layout->logical_pages, sizeof *f->written);
    f->owner = malloc(pages * sizeof *f->owner);
    f->count = calloc(blocks, sizeof *f->count);
    f->closed = calloc(blocks, sizeof *f->closed);
    f->erases = calloc(blocks, sizeof *f->erases);
    f->free_ring = malloc(blocks * sizeof *f->free_ring);
    if (!f->planes || !f->map || !f->written || !f->owner || !f->count || !f->closed ||
        !f->erases || !f->free_ring) {
        drivelab_firmware_destroy(f);
        return NULL;
    }
    memset(f->map, 0xFF, layout->logical_pages * sizeof *f->map);
    memset(f->owner, 0xFF, pages * sizeof *f->owner);
    for (size_t block = 0; block < blocks; block++)
        f->free_ring[block] = (uint32_t)block;
    for (uint32_t plane = 0; plane < layout->planes; plane++)
        f->planes[plane].free_count = layout->blocks_per_plane;
    return f;
}

/* The next page of a frontier. Opens a block if needed; DRIVELAB_NOTHING if none is free. */
static uint32_t next_page(struct firmware *f, uint32_t plane, int which)
{
    struct plane *p = &f->planes[plane];
    struct frontier *open = &p->open[which];
    if (open->left == 0) {
        if (p->free_count == 0)
            return DRIVELAB_NOTHING;
        size_t place = (size_t)plane * f->layout.blocks_per_plane + p->free_head;
        p->free_head = (p->free_head + 1) % f->layout.blocks_per_plane;
        p->free_count--;
        open->next = f->free_ring[place] * f->layout.pages_per_block;
        open->left = f->layout.pages_per_block;
    }
    uint32_t page = open->next++;
    if (--open->left == 0)
        f->closed[page / f->layout.pages_per_block] = f->writes;
    return page;
}

static uint32_t plane_of(const struct firmware *f, uint32_t page)
{
    return page / f->layout.pages_per_block / f->layout.blocks_per_plane;
}

static void give_up(struct firmware *f, uint32_t page)
{
    f->owner[page] = DRIVELAB_NOTHING;
    f->count[page / f->layout.pages_per_block]--;
    f->planes[plane_of(f, page)].valid--;
}

static void occupy(struct firmware *f, uint32_t page, uint32_t logical)
{
    f->owner[page] = logical;
    f->count[page / f->layout.pages_per_block]++;
    f->planes[plane_of(f, page)].valid++;
    f->map[logical] = page;
}

/* The full block of `plane` with the greatest benefit per cost, or DRIVELAB_NOTHING. */
static uint32_t choose_victim(struct firmware *f, uint32_t plane)
{
    uint32_t victim = DRIVELAB_NOTHING, first = plane * f->layout.blocks_per_plane;
    uint64_t best = 0;
    for (uint32_t block = first; block < first + f->layout.blocks_per_plane; block++) {
        if (f->closed[block] == 0)
            continue;
        f->counts[VICTIMS_SEEN]++;
        uint64_t invalid = f->layout.pages_per_block - f->count[block];
        uint64_t age = f->writes - f->closed[block] + 1u;
        uint64_t score = invalid * age / (2 * (uint64_t)f->count[block] + 1);
        if (score > best || (victim == DRIVELAB_NOTHING && invalid > 0)) {
            best = score;
            victim = block;
        }
    }
    return victim;
}

/* Empties a victim of `plane`. */
static int collect(struct firmware *f, uint32_t plane, uint32_t request,
                   const struct drivelab_sink *out)
{
    struct plane *p = &f->planes[plane];
    uint32_t victim = choose_victim(f, plane);
    if (victim == DRIVELAB_NOTHING)
        return DRIVELAB_NO_SPACE;
    f->closed[victim] = 0;
    struct drivelab_operation operation = {.cause = DRIVELAB_FOR_COLLECTION, .plane = plane,
        .request = request};
    uint32_t first = victim * f->layout.pages_per_block, last = DRIVELAB_NOTHING;
    for (uint32_t page = first; page < first + f->layout.pages_per_block; page++) {
        uint32_t logical = f->owner[page];
        if (logical == DRIVELAB_NOTHING)
            continue;
        operation.kind = DRIVELAB_PAGE_READ;
        operation.page = page;
        operation.logical = logical;
        operation.after = DRIVELAB_NOTHING;
        operation.after = out->emit(out->sink, &operation);
        operation.kind = DRIVELAB_PAGE_PROGRAM;
        operation.page = next_page(f, plane, MOVED);
        if (operation.page == DRIVELAB_NOTHING)
            return DRIVELAB_NO_SPACE;
        give_up(f, page);
        occupy(f, operation.page, logical);
        f->counts[MOVES]++;
        last = out->emit(out->sink, &operation);
    }
    operation.kind = DRIVELAB_BLOCK_ERASE;
    operation.page = first;
    operation.logical = DRIVELAB_NOTHING;
    operation.after = last;
    out->emit(out->sink, &operation);
    f->erases[victim]++;
    uint32_t tail = (p->free_head + p->free_count++) % f->layout.blocks_per_plane;
    f->free_ring[(size_t)plane * f->layout.blocks_per_plane + tail] = victim;
    return DRIVELAB_OK;
}

/* Of two neighbouring planes, the one that holds fewer pages; the pair moves on each time. */
static uint32_t choose_plane(struct firmware *f)
{
    uint32_t planes = f->layout.planes, one = f->turn, other = (one + 1) % planes;
    f->turn = other;
    return f->planes[other].valid < f->planes[one].valid ? other : one;
}

static int write_page(struct firmware *f, uint32_t logical, int partial, uint32_t request,
                      const struct drivelab_sink *out)
{
    f->counts[LOOKUPS]++;
    uint32_t old = f->map[logical], before = f->written[logical];
    f->writes += f->writes == UINT32_MAX ? 2 : 1; /* 0 means never written */
    f->written[logical] = f->writes;
    int is_hot = before != 0 && f->writes - before < f->layout.logical_pages / 2;
    f->counts[is_hot ? HOT_WRITES : COLD_WRITES]++;
    uint32_t plane = choose_plane(f);
    struct plane *p = &f->planes[plane];
    struct drivelab_operation operation = {.cause = DRIVELAB_FOR_HOST, .logical = logical,
        .after = DRIVELAB_NOTHING, .request = request};
    if (p->open[is_hot ? HOT : COLD].left == 0)
        while (p->free_count <= f->layout.reserve_blocks) {
            int result = collect(f, plane, request, out);
            if (result != DRIVELAB_OK)
                return result;
            old = f->map[logical]; /* collection may have moved it */
        }
    if (partial && old != DRIVELAB_NOTHING) {
        operation.kind = DRIVELAB_PAGE_READ;
        operation.plane = plane_of(f, old);
        operation.page = old;
        operation.after = out->emit(out->sink, &operation);
    }
    operation.kind = DRIVELAB_PAGE_PROGRAM;
    operation.plane = plane;
    operation.page = next_page(f, plane, is_hot ? HOT : COLD);
    if (operation.page == DRIVELAB_NOTHING)
        return DRIVELAB_NO_SPACE;
    if (old != DRIVELAB_NOTHING)
        give_up(f, old);
    occupy(f, operation.page, logical);
    out->emit(out->sink, &operation);
    return DRIVELAB_OK;
}

static void read_page(struct firmware *f, uint32_t logical, uint32_t request,
                      const struct drivelab_sink *out)
{
    f->counts[LOOKUPS]++;
    uint32_t page = f->map[logical];
    if (page == DRIVELAB_NOTHING)
        return;
    struct drivelab_operation operation = {.kind = DRIVELAB_PAGE_READ,
        .cause = DRIVELAB_FOR_HOST, .plane = plane_of(f, page), .page = page,
        .logical = logical, .after = DRIVELAB_NOTHING, .request = request};
    out->emit(out->sink, &operation);
}

static void trim_page(struct firmware *f, uint32_t logical)
{
    f->counts[LOOKUPS]++;
    if (f->map[logical] == DRIVELAB_NOTHING)
        return;
    give_up(f, f->map[logical]);
    f->map[logical] = DRIVELAB_NOTHING;
    f->written[logical] = 0;
}

int drivelab_firmware_submit(void *state, const struct drivelab_run *runs, uint32_t count,
                             const struct drivelab_sink *out)
{
    struct firmware *f = state;
    for (uint32_t request = 0; request < count; request++) {
        const struct drivelab_run *run = &runs[request];
        for (uint32_t page = 0; page < run->pages; page++) {
            uint32_t logical = run->first + page;
            int partial = (page == 0 && run->first_partial) ||
                          (page + 1 == run->pages && run->last_partial);
            if (run->action == DRIVELAB_READ) {
                read_page(f, logical, request, out);
            } else if (run->action == DRIVELAB_WRITE) {
                int result = write_page(f, logical, partial, request, out);
                if (result != DRIVELAB_OK)
                    return result;
            } else if (!partial) {
                trim_page(f, logical);
            }
        }
    }
    return DRIVELAB_OK;
}
