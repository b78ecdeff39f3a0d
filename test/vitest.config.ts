import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // It ends when it holds: a second, as usual, is less than a busy machine may stand still.
    expect: { poll: { timeout: 15_000 } },
    globalSetup: "test/ownFolder.ts",
    setupFiles: ["test/noneLeft.ts", "test/secondTries.ts"],
    maxWorkers: 2,
    pool: "forks",
    // Nothing here keeps a state of its own between files, and loading everything anew for each took a third of the time.
    isolate: false,
  },
});
