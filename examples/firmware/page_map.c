/*
 * An example of a firmware for Drivelab: page mapping with greedy collection.
 *
 *     cc -O2 -shared -fPIC -I crates/ftl/include examples/firmware/page_map.c -o page_map.so
 *
 * It works like the built-in firmware with policy "greedy" and pace "whole_block".
 * Logical page l lies on plane l mod planes. Before a plane opens a new block for
 * the host, it empties blocks, the one with the fewest valid pages first, until
 * more blocks than the reserve are free. In idle time planes take turns, one
 * operation each, until as many blocks are free as the preset asks for.
 */
#include "drivelab_firmware.h"

#include <stdlib.h>
#include <string.h>

struct frontier {
    uint32_t next; /* the page that is programmed next */
    uint32_t left; /* pages left in its block */
};

struct plane {
    struct frontier host, collection;
    uint32_t free_head, free_count; /* in the ring of its free blocks */
    uint32_t victim;                /* the block that is being emptied, or DRIVELAB_NOTHING */
    uint32_t from;                  /* its valid pages lie here or after */
    uint32_t held;                  /* read in idle time, to be programmed; or DRIVELAB_NOTHING */
};

struct firmware {
    struct drivelab_layout layout;
    struct plane *planes;
    uint32_t *map;       /* logical page -> physical page, or DRIVELAB_NOTHING */
    uint32_t *owner;     /* physical page -> logical page */
    uint8_t *valid;      /* by physical page */
    uint32_t *count;     /* by block: valid pages */
    uint8_t *closed;     /* by block: full, and not being emptied */
    uint32_t *erases;    /* by block */
    uint32_t *free_ring; /* by plane and position */
    uint32_t turn;       /* the plane that idle time is offered to first */
};

uint32_t drivelab_firmware_version(void) { return DRIVELAB_FIRMWARE_VERSION; }

void drivelab_firmware_destroy(void *state)
{
    struct firmware *f = state;
    if (f == NULL)
        return;
    free(f->planes);
    free(f->map);
    free(f->owner);
    free(f->valid);
    free(f->count);
    free(f->closed);
    free(f->erases);
    free(f->free_ring);
    free(f);
}

void *drivelab_firmware_create(const struct drivelab_layout *layout)
{
    size_t blocks = (size_t)layout->planes * layout->blocks_per_plane;
    size_t pages = blocks * layout->pages_per_block;
    struct firmware *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->layout = *layout;
    f->planes = calloc(layout->planes, sizeof *f->planes);
    f->map = malloc(layout->logical_pages * sizeof *f->map);
    f->owner = malloc(pages * sizeof *f->owner);
    f->valid = calloc(pages, 1);
    f->count = calloc(blocks, sizeof *f->count);
    f->closed = calloc(blocks, 1);
    f->erases = calloc(blocks, sizeof *f->erases);
    f->free_ring = malloc(blocks * sizeof *f->free_ring);
    if (!f->planes || !f->map || !f->owner || !f->valid || !f->count || !f->closed ||
        !f->erases || !f->free_ring) {
        drivelab_firmware_destroy(f);
        return NULL;
    }
    memset(f->map, 0xFF, layout->logical_pages * sizeof *f->map);
    for (size_t block = 0; block < blocks; block++)
        f->free_ring[block] = (uint32_t)block;
    for (uint32_t plane = 0; plane < layout->planes; plane++) {
        f->planes[plane].free_count = layout->blocks_per_plane;
        f->planes[plane].victim = DRIVELAB_NOTHING;
        f->planes[plane].held = DRIVELAB_NOTHING;
    }
    return f;
}

/* The next page of a frontier. Opens a block if needed; DRIVELAB_NOTHING if none is free. */
static uint32_t next_page(struct firmware *f, uint32_t plane, struct frontier *frontier)
{
    struct plane *p = &f->planes[plane];
    if (frontier->left == 0) {
        if (p->free_count == 0)
            return DRIVELAB_NOTHING;
        size_t place = (size_t)plane * f->layout.blocks_per_plane + p->free_head;
        p->free_head = (p->free_head + 1) % f->layout.blocks_per_plane;
        p->free_count--;
        frontier->next = f->free_ring[place] * f->layout.pages_per_block;
        frontier->left = f->layout.pages_per_block;
    }
    uint32_t page = frontier->next++;
    if (--frontier->left == 0)
        f->closed[page / f->layout.pages_per_block] = 1;
    return page;
}

static void invalidate(struct firmware *f, uint32_t page)
{
    f->valid[page] = 0;
    f->count[page / f->layout.pages_per_block]--;
}

static void occupy(struct firmware *f, uint32_t page, uint32_t logical)
{
    f->valid[page] = 1;
    f->count[page / f->layout.pages_per_block]++;
    f->owner[page] = logical;
    f->map[logical] = page;
}

/* Makes the block with the fewest valid pages the victim of `plane`; of equals, the first. */
static int choose_victim(struct firmware *f, uint32_t plane)
{
    uint32_t victim = DRIVELAB_NOTHING, first = plane * f->layout.blocks_per_plane;
    for (uint32_t block = first; block < first + f->layout.blocks_per_plane; block++)
        if (f->closed[block] && (victim == DRIVELAB_NOTHING || f->count[block] < f->count[victim]))
            victim = block;
    if (victim == DRIVELAB_NOTHING || f->count[victim] == f->layout.pages_per_block)
        return DRIVELAB_NO_SPACE;
    f->closed[victim] = 0;
    f->planes[plane].victim = victim;
    f->planes[plane].from = victim * f->layout.pages_per_block;
    return DRIVELAB_OK;
}

/* The first valid page left in the victim, or DRIVELAB_NOTHING. */
static uint32_t page_to_move(struct firmware *f, struct plane *p)
{
    for (; p->from < (p->victim + 1) * f->layout.pages_per_block; p->from++)
        if (f->valid[p->from])
            return p->from;
    return DRIVELAB_NOTHING;
}

/* The reads, programs and erase of collection; `operation` names the plane. */
static uint32_t emit_read(struct firmware *f, struct drivelab_operation operation, uint32_t page,
                          const struct drivelab_sink *out)
{
    operation.kind = DRIVELAB_PAGE_READ;
    operation.page = page;
    operation.logical = f->owner[page];
    operation.after = DRIVELAB_NOTHING;
    return out->emit(out->sink, &operation);
}

static int emit_move(struct firmware *f, struct drivelab_operation operation, uint32_t from,
                     const struct drivelab_sink *out, uint32_t *last)
{
    operation.kind = DRIVELAB_PAGE_PROGRAM;
    operation.logical = f->owner[from];
    operation.page = next_page(f, operation.plane, &f->planes[operation.plane].collection);
    if (operation.page == DRIVELAB_NOTHING)
        return DRIVELAB_NO_SPACE;
    invalidate(f, from);
    occupy(f, operation.page, operation.logical);
    *last = out->emit(out->sink, &operation);
    return DRIVELAB_OK;
}

static void emit_erase(struct firmware *f, struct drivelab_operation operation,
                       const struct drivelab_sink *out)
{
    struct plane *p = &f->planes[operation.plane];
    operation.kind = DRIVELAB_BLOCK_ERASE;
    operation.page = p->victim * f->layout.pages_per_block;
    operation.logical = DRIVELAB_NOTHING;
    out->emit(out->sink, &operation);
    f->erases[p->victim]++;
    uint32_t tail = (p->free_head + p->free_count++) % f->layout.blocks_per_plane;
    f->free_ring[(size_t)operation.plane * f->layout.blocks_per_plane + tail] = p->victim;
    p->victim = DRIVELAB_NOTHING;
}

/* Empties a victim of `plane`: the one that idle time has begun, or a new one. */
static int collect(struct firmware *f, uint32_t plane, uint32_t request,
                   const struct drivelab_sink *out)
{
    struct plane *p = &f->planes[plane];
    struct drivelab_operation operation = {.cause = DRIVELAB_FOR_COLLECTION, .plane = plane,
        .after = DRIVELAB_NOTHING, .request = request};
    if (p->victim == DRIVELAB_NOTHING && choose_victim(f, plane) != DRIVELAB_OK)
        return DRIVELAB_NO_SPACE;
    p->held = DRIVELAB_NOTHING; /* a page read in idle time is read again */
    uint32_t page, last = DRIVELAB_NOTHING;
    while ((page = page_to_move(f, p)) != DRIVELAB_NOTHING) {
        operation.after = emit_read(f, operation, page, out);
        int result = emit_move(f, operation, page, out, &last);
        if (result != DRIVELAB_OK)
            return result;
    }
    operation.after = last;
    emit_erase(f, operation, out);
    return DRIVELAB_OK;
}

/* Emits one operation of idle time on `plane`; returns 1 if there was one. */
static int step(struct firmware *f, uint32_t plane, const struct drivelab_sink *out)
{
    struct plane *p = &f->planes[plane];
    struct drivelab_operation operation = {.cause = DRIVELAB_FOR_COLLECTION, .plane = plane,
        .after = DRIVELAB_NOTHING};
    if (p->victim == DRIVELAB_NOTHING &&
        (p->free_count >= f->layout.background_blocks || choose_victim(f, plane) != DRIVELAB_OK))
        return 0;
    uint32_t held = p->held, last;
    p->held = DRIVELAB_NOTHING;
    /* The host may have overwritten the page meanwhile. */
    if (held != DRIVELAB_NOTHING && f->valid[held])
        return emit_move(f, operation, held, out, &last) == DRIVELAB_OK;
    uint32_t page = page_to_move(f, p);
    if (page != DRIVELAB_NOTHING) {
        emit_read(f, operation, page, out);
        p->held = page;
    } else {
        emit_erase(f, operation, out);
    }
    return 1;
}

int drivelab_firmware_background(void *state, const struct drivelab_idle_time *offer,
                                 const struct drivelab_sink *out)
{
    struct firmware *f = state;
    uint32_t planes = f->layout.planes, budget = offer->budget;
    for (uint32_t tried = 0; budget > 0 && tried < planes; tried++) {
        uint32_t plane = f->turn;
        f->turn = (f->turn + 1) % planes;
        if (offer->is_free(offer->planes, plane) && step(f, plane, out)) {
            budget--;
            tried = UINT32_MAX; /* try all planes again */
        }
    }
    return DRIVELAB_OK;
}

uint32_t drivelab_firmware_erase_count(const void *state, uint32_t block)
{
    const struct firmware *f = state;
    return f->erases[block];
}

static int write_page(struct firmware *f, uint32_t logical, int partial, uint32_t request,
                      const struct drivelab_sink *out)
{
    uint32_t plane = logical % f->layout.planes;
    struct plane *p = &f->planes[plane];
    if (p->host.left == 0)
        while (p->free_count <= f->layout.reserve_blocks) {
            int result = collect(f, plane, request, out);
            if (result != DRIVELAB_OK)
                return result;
        }
    uint32_t old = f->map[logical];
    struct drivelab_operation operation = {.cause = DRIVELAB_FOR_HOST, .plane = plane,
        .logical = logical, .after = DRIVELAB_NOTHING, .request = request};
    if (partial && old != DRIVELAB_NOTHING) {
        operation.kind = DRIVELAB_PAGE_READ;
        operation.page = old;
        operation.after = out->emit(out->sink, &operation);
    }
    operation.kind = DRIVELAB_PAGE_PROGRAM;
    operation.page = next_page(f, plane, &p->host);
    if (operation.page == DRIVELAB_NOTHING)
        return DRIVELAB_NO_SPACE;
    if (old != DRIVELAB_NOTHING)
        invalidate(f, old);
    occupy(f, operation.page, logical);
    out->emit(out->sink, &operation);
    return DRIVELAB_OK;
}

static void read_page(struct firmware *f, uint32_t logical, uint32_t request,
                      const struct drivelab_sink *out)
{
    if (f->map[logical] == DRIVELAB_NOTHING)
        return;
    struct drivelab_operation operation = {.kind = DRIVELAB_PAGE_READ,
        .cause = DRIVELAB_FOR_HOST, .plane = logical % f->layout.planes,
        .page = f->map[logical], .logical = logical, .after = DRIVELAB_NOTHING,
        .request = request};
    out->emit(out->sink, &operation);
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
            } else if (!partial && f->map[logical] != DRIVELAB_NOTHING) {
                invalidate(f, f->map[logical]);
                f->map[logical] = DRIVELAB_NOTHING;
            }
        }
    }
    return DRIVELAB_OK;
}
