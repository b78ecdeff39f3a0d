import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { HANG_MS, TEST_HANG_MS } from "./hang.ts";

/** They replace modules of Node.js, so they must be the first that load what uses these: each in a process of its own. */
const WITH_REPLACED_MODULES = ["test/storage/durableCalls.test.ts"];

/** Of few lines, but of ten seconds and more. */
const SHORT_BUT_SLOW = [
  "applications/applications",
  "cli/lifecycle",
  "cluster/upgrades/olderFolders",
  "conformance/quick",
  "network/discovery/clockCheck",
  "node/node",
  "prometheus/alerts",
  "simulation/realNetwork",
].map((name) => `/test/${name}.test.ts`);

/**
 * Where nothing is known of earlier runs, as in a fresh clone, the files with the most text come first. The slow ones among the
 * others would be begun last, and the processors would idle while one of them is left.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turnOf = ({ moduleId, project }: TestSpecification): number =>
      project.config.isolate ? 0 : SHORT_BUT_SLOW.some((path) => moduleId.endsWith(path)) ? 1 : 2;
    return (await super.sort(files)).sort((one, other) => turnOf(one) - turnOf(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
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
