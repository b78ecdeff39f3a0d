import { afterEach } from "vitest";

/** For each file of tests: says which were tried again (test/realTime.ts) and why, also when they succeeded. */
afterEach(({ task }) => {
  const { retryCount = 0, errors = [] } = task.result ?? {};
  if (retryCount > 0) console.warn(`TRIED AGAIN: ${task.fullName}\n  after: ${errors[0]?.message}`);
});
