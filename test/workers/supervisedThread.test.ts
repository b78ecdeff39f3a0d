import { execFile } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { failureOfAll, SupervisedThread } from "../../src/workers/supervisedThread.ts";
import { threadFailures } from "../../src/workers/threadFailures.ts";
import { compiledModule } from "../compiledModule.ts";
import { HANG_MS } from "../hang.ts";
import { itIfThorough } from "../thorough.ts";

/**
 * A worker that fails as often as the number in `workerData` says, and else answers each message with itself; it ends on
 * "end", and blocks for ever on "block".
 */
const ENTRY = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from "node:worker_threads";
    const left = new Int32Array(workerData);
    if (Atomics.sub(left, 0, 1) > 0) throw new Error("no file may be opened");
    parentPort.on("message", (message) => {
      if (message === "end") process.exit();
      if (message === "block") Atomics.wait(left, 1, 0);
      parentPort.postMessage(message);
    });
    parentPort.postMessage("ready");
  `)}`,
);

interface Watched {
  readonly thread: SupervisedThread<string>;
  /** What the user of the thread was told, in order. */
  readonly events: readonly string[];
}

function aThread(failures = 0, entry = ENTRY): Watched {
  const events: string[] = [];
  const workerData = new SharedArrayBuffer(8);
  new Int32Array(workerData)[0] = failures;
  const thread = new SupervisedThread<string>(
    { entry, workerData },
    {
      ready: () => events.push("ready"),
      receive: (message) => events.push(message),
      died: ({ message }) => events.push(`died: ${message}`),
    },
  );
  onTestFinished(() => thread.close());
  return { thread, events };
}

async function untilTold(events: readonly string[], expected: readonly string[]): Promise<void> {
  await expect.poll(() => events, { interval: 5 }).toEqual(expected);
}

/**
 * A worker that asks for messages, counts in its third counter, and then evaluates its module until the first counter is not zero;
 * it counts its end in the second one. With `isStuck`, it never gets there.
 */
function slowEntry({ isStuck = false } = {}): URL {
  const asynchronous = `data:text/javascript,${encodeURIComponent("await new Promise((resolve) => setTimeout(resolve));")}`;
  return new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, workerData } from "node:worker_threads";
      import "${asynchronous}";
      import { receiveMessages } from "${compiledModule("workers/workerPort")}";
      const counts = new Int32Array(workerData);
      receiveMessages(parentPort, () => undefined);
      Atomics.store(counts, 2, 1);
      ${isStuck ? "await new Promise(() => setInterval(() => undefined, 1_000));" : ""}
      while (Atomics.load(counts, 0) === 0);
      Atomics.store(counts, 1, 1);
    `)}`,
  );
}

describe("a supervised thread", () => {
  it.each([
    { isStuck: false, loaded: 1, loadingLimitMs: HANG_MS },
    { isStuck: true, loaded: 0, loadingLimitMs: 1 },
  ])("is not terminated while it loads its code, unless that hangs: %j", async (order) => {
    const { isStuck, loaded, loadingLimitMs } = order;
    const counts = new Int32Array(new SharedArrayBuffer(12));
    const settings = { entry: slowEntry({ isStuck }), workerData: counts.buffer, loadingLimitMs };
    const thread = new SupervisedThread<string>(settings, {
      ready: () => undefined,
      receive: () => undefined,
      died: () => undefined,
    });
    thread.start();
    const isLoading = (): boolean => Atomics.load(counts, 2) === 1;
    // Node.js may abort the process when a thread ends between two of its modules.
    if (isStuck) await expect.poll(isLoading).toBe(true);
    let isClosed = false;
    const closed = thread.close().then(() => {
      isClosed = true;
    });
    await expect.poll(() => isClosed || isLoading()).toBe(true);
    // What the worker has sent by now is received.
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    Atomics.store(counts, 0, 1);
    await closed;
    expect(counts[1]).toBe(loaded);
  });

  it("starts when told, once, and answers what it was sent meanwhile", async () => {
    const { thread, events } = aThread();
    expect(thread.isStarted).toBe(false);
    thread.start();
    thread.start();
    thread.post("early");
    expect([thread.isStarted, thread.isReady]).toEqual([true, false]);
    await untilTold(events, ["ready", "early"]);
    expect(thread.isReady).toBe(true);
  });

  it("is counted when it fails, from zero on, and neither when its work is done nor when it is terminated", async () => {
    const failures = (): number => [...threadFailures().values()].reduce((sum, count) => sum + count, 0);
    const before = failures();
    const failing = aThread(2);
    failing.thread.start();
    expect(threadFailures().size).toBeGreaterThan(0);
    await untilTold(failing.events, ["died: no file may be opened", "died: no file may be opened", "ready"]);
    expect(failures()).toBe(before + 2);
    const ending = aThread();
    ending.thread.start();
    ending.thread.post("end");
    await untilTold(ending.events, ["ready", "died: the thread ended", "ready"]);
    ending.thread.restart();
    await ending.thread.close();
    expect(failures()).toBe(before + 2);
  });

  it("starts again at once when it dies, and tells that what it was sent is lost", async () => {
    const { thread, events } = aThread();
    thread.start();
    thread.post("end");
    await untilTold(events, ["ready", "died: the thread ended", "ready"]);
    thread.post("again");
    await untilTold(events, ["ready", "died: the thread ended", "ready", "again"]);
  });

  it("says nothing of a thread that was replaced, nor after it was closed", async () => {
    const { thread, events } = aThread();
    thread.start();
    await untilTold(events, ["ready"]);
    thread.post("block");
    thread.restart();
    await untilTold(events, ["ready", "ready"]);
    thread.post("end");
    await thread.close();
    thread.start();
    thread.restart();
    expect([thread.isStarted, events]).toEqual([false, ["ready", "ready"]]);
  });

  itIfThorough(
    "says why it cannot run after it died four times, tries again later, and runs when it can",
    async () => {
      const { thread, events } = aThread(5);
      const other = aThread();
      thread.start();
      const deaths = Array<string>(4).fill("died: no file may be opened");
      await untilTold(events, deaths);
      expect(thread.failure?.message).toBe("no file may be opened");
      expect(failureOfAll([thread, other.thread])).toBeUndefined();
      expect(failureOfAll([thread])).toBe(thread.failure);
      await untilTold(events, [...deaths, "ready"]);
      expect(thread.failure).toBeUndefined();
    },
  );

  it("fails like any other where no thread can be created", async () => {
    const { thread, events } = aThread(0, new URL("http://localhost/worker.js"));
    thread.start();
    await expect.poll(() => thread.failure?.message).toMatch(/scheme file/);
    expect(events).toHaveLength(4);
  });

  it("keeps the process alive while it starts and while it is busy, but not while it is idle", async () => {
    const program = `
      import { SupervisedThread } from ${JSON.stringify(compiledModule("workers/supervisedThread"))};
      const user = {
        ready() {
          thread.setBusy(true);
          thread.post("answer");
        },
        receive(message) {
          console.log(message);
          thread.setBusy(false);
        },
        died: ({ message }) => console.log(message),
      };
      const entry = new URL(${JSON.stringify(ENTRY.href)});
      const thread = new SupervisedThread({ entry, workerData: new SharedArrayBuffer(8) }, user);
      thread.start();
    `;
    const options = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: HANG_MS });
    expect(stdout).toBe("answer\n");
  });
});
