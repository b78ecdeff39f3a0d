import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { workerEntry } from "../../workers/workerEntry.ts";

/**
 * Copies descriptors of listening sockets: a socket that is sent to another process and back comes as a new descriptor, which
 * no other interface of Node.js 20 gives.
 */
export interface DescriptorCopier {
  /** Takes the handle at once, which may be closed then. One call at a time. */
  copies(handle: Handle, count: number): Promise<Handle[]>;
  /** Ends the process that copies. */
  close(): void;
}

/**
 * The native object of a socket. Its descriptor is a thread's from the moment that the thread has its number; the object
 * itself must not be used or closed after that.
 */
export interface Handle {
  readonly fd: number;
  close(): void;
}

/** Starts a process, which keeps this one alive only while it copies. */
export function startDescriptorCopier(): DescriptorCopier {
  const child = fork(fileURLToPath(workerEntry("descriptorWorker")), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // A failure is told to those who wait for copies.
  child.on("error", () => undefined);
  child.unref();
  child.channel?.unref();
  return {
    copies: (handle, count) => copiesFrom(child, handle, count),
    close: () => void child.kill(),
  };
}

async function copiesFrom(child: ChildProcess, handle: Handle, count: number): Promise<Handle[]> {
  const copies: Handle[] = [];
  let failed: (error: Error) => void = () => undefined;
  child.channel?.ref();
  try {
    return await new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error("the process that copies descriptors ended"));
      if (child.exitCode !== null || child.signalCode !== null || !child.connected) fail();
      child.once("exit", fail);
      failed = reject;
      child.once("error", failed);
      child.on("message", (_number, copy) => {
        copies.push(copy as unknown as Handle);
        if (copies.length === count) resolve(copies);
      });
      child.send(
        count,
        handle as unknown as Parameters<ChildProcess["send"]>[1],
        { keepOpen: true },
        (error) => {
          if (error !== null) reject(error);
        },
      );
    });
  } finally {
    child.removeAllListeners("message");
    child.removeAllListeners("exit");
    child.off("error", failed);
    child.channel?.unref();
  }
}
