import { type ChildProcess, fork } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expectDefined } from "../../primitives/assert.ts";
import { listen, portOf } from "../../rpc/server/server.ts";
import { workerEntry } from "../../workers/workerEntry.ts";

/**
 * One listening port for several threads. Each has a descriptor of its own, because a thread that ends closes its
 * descriptors: one that several shared would be closed for all, and its number given to another file. A socket that is sent
 * to another process and back comes as a new descriptor, which no other interface of Node.js 20 gives.
 *
 * This thread never accepts: it closes its own descriptor in the event-loop cycle in which the port begins to listen.
 */
export interface SharedListener {
  readonly port: number;
  /** A descriptor for a thread, which is to close it. */
  descriptor(): Promise<number>;
  /** Ends the listening, once the threads have closed theirs. */
  close(): void;
}

/** Rejects as `listen` does when the port cannot be had. `count` descriptors are ready when it resolves. */
export async function openSharedListener(host: string, port: number, count: number): Promise<SharedListener> {
  const server = createServer();
  const child = startChild();
  try {
    await listen(server, host, port);
    const opened = portOf(server);
    const copies = copiesFrom(child, handleOf(server), count + 1);
    server.close();
    const [kept, ...ready] = await copies;
    return listenerOf(opened, expectDefined(kept, "a descriptor"), ready);
  } catch (error) {
    child.kill();
    throw error;
  }
}

function listenerOf(port: number, kept: Handle, ready: Handle[]): SharedListener {
  return {
    port,
    async descriptor() {
      const handle = ready.shift() ?? (await copiesFrom(startChild(), kept, 1))[0];
      return expectDefined(handle, "a descriptor").fd;
    },
    close() {
      for (const handle of [kept, ...ready]) handle.close();
    },
  };
}

/**
 * The native object of a socket. Its descriptor is a thread's from the moment that the thread has its number; the object
 * itself must not be used or closed after that.
 */
interface Handle {
  readonly fd: number;
  close(): void;
}

/** Node.js sends such an object, but a server that is sent would listen at the other end. */
function handleOf(server: object): Handle {
  return (server as { readonly _handle: Handle })._handle;
}

function startChild(): ChildProcess {
  return fork(fileURLToPath(workerEntry("descriptorWorker")), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

/** Sends the handle at once, and resolves to copies of it. */
function copiesFrom(child: ChildProcess, handle: Handle, count: number): Promise<Handle[]> {
  const copies: Handle[] = [];
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error("the process that copies descriptors ended"));
    child.once("exit", fail);
    child.once("error", reject);
    child.on("message", (_number, copy) => {
      copies.push(copy as unknown as Handle);
      if (copies.length < count) return;
      child.off("exit", fail);
      child.disconnect();
      resolve(copies);
    });
    child.send(count, handle as unknown as Parameters<ChildProcess["send"]>[1], { keepOpen: true });
  });
}
