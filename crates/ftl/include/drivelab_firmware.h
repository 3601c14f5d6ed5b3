/*
 * Drivelab: the interface of a firmware written by its users.
 *
 * A shared library that defines the functions below replaces the built-in
 * firmware of a simulated drive. It decides where pages lie and which blocks are
 * collected when; the simulator decides how long everything takes. Every
 * operation is checked when it is emitted. The first one that breaks the
 * contract ends the run with a message that names the operation and the rule.
 *
 * The contract
 *   - Operations of one plane are executed in the order in which they are emitted.
 *   - `after` names an earlier operation of the same call, or DRIVELAB_NOTHING.
 *   - The pages of a block are programmed in order, each once between two erases
 *     of the block.
 *   - A read names the page that holds the newest data of its logical page.
 *   - A block that holds the newest data of a logical page is never erased.
 *   - Every page of a write is programmed with cause host exactly once.
 *   - A move is a program with another cause. It waits for the read of its data, or
 *     follows a read that was emitted for it in idle time on its own plane.
 *   - In idle time the library emits at most `budget` operations, on free planes
 *     only and none with cause host.
 *   - A page that was trimmed after it was written is neither read nor moved.
 *
 * Physical pages are numbered (plane * blocks_per_plane + block) * pages_per_block
 * + page. Planes count the channel fastest, then way, die, plane of the die. One
 * thread at a time uses an instance; several instances may exist. A crash of the
 * library crashes the program.
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
    uint32_t background_blocks; /* free blocks to reach in idle time; 0: no idle time */
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
    uint32_t page;             /* physical page; for an erase, the block's first */
    uint32_t logical;          /* logical page; DRIVELAB_NOTHING for an erase */
    uint32_t after;            /* index of the operation to wait for */
    uint32_t request;          /* index of the run that it belongs to */
};

/* `emit` takes an operation and returns its index. */
struct drivelab_sink {
    void *sink;
    uint32_t (*emit)(void *sink, const struct drivelab_operation *operation);
};

/* An offer of idle time. */
struct drivelab_idle_time {
    uint64_t idle_ns;          /* since the last command completed */
    uint32_t budget;           /* operations that may be emitted, at least 1 */
    const void *planes;
    uint32_t (*is_free)(const void *planes, uint32_t plane); /* 1: can begin at once */
};

/* The DRIVELAB_FIRMWARE_VERSION that the library was built with. */
uint32_t drivelab_firmware_version(void);

/* Creates the firmware of a fresh drive; NULL if it cannot work on this layout. */
void *drivelab_firmware_create(const struct drivelab_layout *layout);

void drivelab_firmware_destroy(void *firmware);

/* Emits the operations for `count` runs, in order. All runs lie on the drive. */
int drivelab_firmware_submit(void *firmware, const struct drivelab_run *runs, uint32_t count,
                             const struct drivelab_sink *out);

/* Optional: called when the flash has executed an operation. */
void drivelab_firmware_completed(void *firmware, const struct drivelab_operation *operation);

/*
 * Optional: emits operations for idle time. Idle time is offered if the preset has
 * collection.background_blocks_per_plane. `request` of these operations is ignored. Called
 * again, with a budget of 1, whenever an operation is done and no command has arrived.
 */
int drivelab_firmware_background(void *firmware, const struct drivelab_idle_time *offer,
                                 const struct drivelab_sink *out);

/* Optional: how often a block was erased; blocks are numbered plane after plane. */
uint32_t drivelab_firmware_erase_count(const void *firmware, uint32_t block);

/*
 * Optional, both or neither: the firmware's own counts. The first function returns the
 * name of count `index`, from 0 on without a gap, and NULL after the last; the second its
 * value since the firmware was created. A name is up to 40 lower-case letters, digits and
 * underscores, begins with a letter and is unique; there are up to 32 counts. You choose
 * the names, but these have a fixed meaning:
 *
 *     map_lookups    map entries looked up
 *     map_hits       map entries that were in memory when they were looked up
 *     map_misses     map entries that had to be loaded first
 *     pages_moved    pages moved, for collection and for wear; must be the moves emitted
 *     lock_waits     waits for a lock that was already held
 */
const char *drivelab_firmware_count_name(uint32_t index);
uint64_t drivelab_firmware_count(const void *firmware, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
