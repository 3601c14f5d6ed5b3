/*
 * The functions of a firmware as a table, for the firmware program that is linked with it.
 * Optional functions may be missing; their addresses are null then.
 */
#include "drivelab_firmware.h"

#define OPTIONAL __attribute__((weak))

OPTIONAL void drivelab_firmware_completed(void *, const struct drivelab_operation *);
OPTIONAL int drivelab_firmware_background(void *, const struct drivelab_idle_time *,
                                          const struct drivelab_sink *);
OPTIONAL uint32_t drivelab_firmware_erase_count(const void *, uint32_t);
OPTIONAL const char *drivelab_firmware_count_name(uint32_t);
OPTIONAL uint64_t drivelab_firmware_count(const void *, uint32_t);

/* The order is that of ExternalFunctions in crates/ftl/src/external/functions.rs. */
const struct {
    uint32_t (*version)(void);
    void *(*create)(const struct drivelab_layout *);
    void (*destroy)(void *);
    int (*submit)(void *, const struct drivelab_run *, uint32_t, const struct drivelab_sink *);
    void (*completed)(void *, const struct drivelab_operation *);
    int (*background)(void *, const struct drivelab_idle_time *, const struct drivelab_sink *);
    uint32_t (*erase_count)(const void *, uint32_t);
    const char *(*count_name)(uint32_t);
    uint64_t (*count)(const void *, uint32_t);
} drivelab_own_firmware = {
    drivelab_firmware_version,    drivelab_firmware_create,
    drivelab_firmware_destroy,    drivelab_firmware_submit,
    drivelab_firmware_completed,  drivelab_firmware_background,
    drivelab_firmware_erase_count, drivelab_firmware_count_name,
    drivelab_firmware_count,
};
