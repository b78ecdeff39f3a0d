import { defineConfig } from "vitest/config";
import { HANG_MS, TEST_HANG_MS } from "./hang.ts";

/** They replace modules of Node.js, so they must be the first that load what uses these: each in a process of its own. */
const WITH_REPLACED_MODULES = ["test/storage/durableCalls.test.ts"];

export default defineConfig({
  test: {
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
    globalSetup: "test/ownFolder.ts",
    setupFiles: ["test/noneLeft.ts", "test/equalBytes.ts"],
    // One more than the cores of a small machine: many tests wait for other processes, for a block or a round.
    maxWorkers: 3,
    // Tests that run side by side in one file wait for blocks most of their time.
    maxConcurrency: 20,
    pool: "forks",
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: WITH_REPLACED_MODULES,
          // Nothing here keeps a state of its own between files, and loading everything anew for each took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: WITH_REPLACED_MODULES, isolate: true } },
    ],
  },
});
