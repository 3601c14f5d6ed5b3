/*
 * Drivelab: the interface of a firmware written by its users.
 *
 * A shared library that defines the functions below takes the place of the
 * built-in firmware of a simulated drive. It decides where pages lie and what is
 * collected when; the simulator decides how long everything takes. Every
 * operation is checked at the moment it is emitted, and the first one that breaks
 * the contract ends the run with a message that says which and why.
 *
 * The contract
 *   - Operations of one plane are executed in the order in which they are emitted.
 *   - `after` names an earlier operation of the same call, or DRIVELAB_NOTHING.
 *   - A page is programmed once between two erases of its block, and the pages of
 *     a block in order.
 *   - A read names the page that holds the newest data of its logical page.
 *   - An erase never takes the newest data of a logical page with it.
 *   - Every page of a write is programmed with cause host exactly once.
 *   - A move (a program of another cause) waits for the read of its data, or follows
 *     a read that was emitted for it in idle time on its own plane.
 *   - In idle time at most the budget is emitted, on planes that are free, and
 *     nothing of it for the host.
 *   - A page trimmed since it was written is neither read nor moved.
 *
 * Physical pages are numbered (plane * blocks_per_plane + block) * pages_per_block
 * + page, planes channel fastest, then way, die, plane of the die. An instance is
 * used by one thread at a time; several may exist. A crash of the library is a
 * crash of the program.
 */
#ifndef DRIVELAB_FIRMWARE_H
#define DRIVELAB_FIRMWARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What drivelab_firmware_version returns. Libraries of earlier versions still work:
 * version 1 had neither background_blocks nor drivelab_firmware_background and
 * drivelab_firmware_erase_count, version 2 had no counts.
 */
#define DRIVELAB_FIRMWARE_VERSION 3u

/* No operation, no logical page. */
#define DRIVELAB_NOTHING UINT32_MAX

/* Kinds of runs. */
#define DRIVELAB_READ 0u
#define DRIVELAB_WRITE 1u
#define DRIVELAB_TRIM 2u

/* Kinds of operations. */
#define DRIVELAB_PAGE_READ 0u
#define DRIVELAB_PAGE_PROGRAM 1u
#define DRIVELAB_BLOCK_ERASE 2u

/* Causes of operations. */
#define DRIVELAB_FOR_HOST 0u
#define DRIVELAB_FOR_COLLECTION 1u
#define DRIVELAB_FOR_WEAR 2u

/* What drivelab_firmware_submit and drivelab_firmware_background return. */
#define DRIVELAB_OK 0
#define DRIVELAB_NO_SPACE 1

struct drivelab_layout {
    uint32_t planes;           /* of the whole drive */
    uint32_t blocks_per_plane;
    uint32_t pages_per_block;
    uint32_t logical_pages;    /* that the host can address */
    uint32_t reserve_blocks;   /* free blocks of a plane at which collection starts */
    uint32_t background_blocks; /* that it is to have after idle time; 0: none is offered */
};

/* A run of neighbouring logical pages. */
struct drivelab_run {
    uint32_t action;           /* DRIVELAB_READ, DRIVELAB_WRITE or DRIVELAB_TRIM */
    uint32_t first;            /* logical page */
    uint32_t pages;
    uint32_t first_partial;    /* 1: the first page is covered in part only */
    uint32_t last_partial;     /* 1: the last page is covered in part only */
};

struct drivelab_operation {
    uint32_t kind;
    uint32_t cause;
    uint32_t plane;
    uint32_t page;             /* physical; of an erase, the block's first */
    uint32_t logical;          /* logical page; DRIVELAB_NOTHING for an erase */
    uint32_t after;            /* index of the operation to wait for */
    uint32_t request;          /* index of the run that it serves */
};

/* Takes an operation; returns its index. */
struct drivelab_sink {
    void *sink;
    uint32_t (*emit)(void *sink, const struct drivelab_operation *operation);
};

/* Idle time that is offered. */
struct drivelab_idle_time {
    uint64_t idle_ns;          /* since the last command was complete */
    uint32_t budget;           /* operations that may be emitted, at least 1 */
    const void *planes;
    uint32_t (*is_free)(const void *planes, uint32_t plane); /* 1: it can begin at once */
};

/* DRIVELAB_FIRMWARE_VERSION as the library was built with it. */
uint32_t drivelab_firmware_version(void);

/* The firmware of a fresh drive; NULL if it cannot work on that layout. */
void *drivelab_firmware_create(const struct drivelab_layout *layout);

void drivelab_firmware_destroy(void *firmware);

/* Emits what serves `count` runs, in order. Runs lie on the drive. */
int drivelab_firmware_submit(void *firmware, const struct drivelab_run *runs, uint32_t count,
                             const struct drivelab_sink *out);

/* Optional: the flash has executed an operation. */
void drivelab_firmware_completed(void *firmware, const struct drivelab_operation *operation);

/*
 * Optional: emits what is done in idle time, which is offered where the preset says
 * collection.background_blocks_per_plane; `request` of the operations says nothing. Asked
 * again, with a budget of 1, whenever an operation is done and no command has come.
 */
int drivelab_firmware_background(void *firmware, const struct drivelab_idle_time *offer,
                                 const struct drivelab_sink *out);

/* Optional: how often a block was erased, blocks counted plane after plane. */
uint32_t drivelab_firmware_erase_count(const void *firmware, uint32_t block);

/*
 * Optional, both or neither: what the firmware counts while it works. The first gives the
 * name of count `index`, from 0 on without a gap, and NULL behind the last; the second
 * what it has come to since the firmware was created. A name is up to 40 lower-case
 * letters, digits and underscores, begins with a letter and stands once; there are up to
 * 32. Names are yours, but these have their meaning:
 *
 *     map_lookups    map entries looked up
 *     map_hits       map entries that were at hand when they were asked for
 *     map_misses     map entries that had to be fetched first
 *     pages_moved    pages moved, for collection and for wear; must be the moves emitted
 *     lock_waits     locks that somebody else held
 */
const char *drivelab_firmware_count_name(uint32_t index);
uint64_t drivelab_firmware_count(const void *firmware, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
