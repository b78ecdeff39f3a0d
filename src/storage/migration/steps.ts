import type { MigrationStep } from "./migrationStep.ts";

/** The oldest schema version that can be migrated: that of the first release, 0.2.0. */
export const FIRST_SCHEMA_VERSION = 1;

/**
 * All migrations. The first is from FIRST_SCHEMA_VERSION to the next, and so on: a further step is a further schema version
 * (checklists/change-the-schema.md#steps). None is ever changed or removed, because folders of its version remain.
 */
export const MIGRATION_STEPS: readonly MigrationStep[] = [];
