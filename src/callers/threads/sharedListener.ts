import { closeSync, fstatSync } from "node:fs";
import { createServer } from "node:net";
import { expectDefined } from "../../primitives/assert.ts";
import { type ListenAddress, listen, portOf } from "../../rpc/server/server.ts";
import { isPath, SocketFile } from "../../rpc/server/unixSocket.ts";
import { type DescriptorCopier, type Handle, startDescriptorCopier } from "./descriptorCopier.ts";

/**
 * One listening port, or Unix socket, for several threads. Each has a descriptor of its own, because a thread that ends closes its
 * descriptors: one that several shared would be closed for all, and its number given to another file.
 *
 * This thread never accepts: it closes its own descriptor in the event-loop cycle in which the port begins to listen.
 */
export interface SharedListener<Address extends ListenAddress = ListenAddress> {
  /** The address that is open: its port is the real one, also when any free one was wanted. */
  readonly address: Address;
  /** A descriptor for the thread with this number, which is to close it. */
  descriptor(thread: number): Promise<number>;
  /** A descriptor that is ready; undefined while there is none. */
  spare(thread: number): number | undefined;
  /** Closes the descriptors that this thread was given and did not listen on before it ended, which it could not close. */
  ended(thread: number): void;
  /** Ends the listening, once the threads have closed theirs. */
  close(): void;
}

/** The share of the descriptors kept ready below which more are made, not more often than so. */
const FEW = 1 / 4;
const REFILL_PAUSE_MS = 10_000;

/** Number of threads for which descriptors are ready at first, and of spare ones that are kept ready. */
interface DescriptorCounts {
  readonly threads: number;
  readonly spares: number;
}

/** Rejects as `listen` does when the address cannot be had. Descriptors for all threads are ready when it resolves. */
export async function openSharedListener<Address extends ListenAddress>(
  address: Address,
  { threads, spares }: DescriptorCounts,
  copier: DescriptorCopier,
): Promise<SharedListener<Address>> {
  const server = createServer();
  const file = isPath(address) ? await SocketFile.open(server, address.path) : undefined;
  if (!isPath(address)) await listen(server, address.host, address.port);
  const opened = isPath(address) ? address : { ...address, port: portOf(server) };
  const copies = copier.copies(handleOf(server), 1 + threads + spares);
  if (file === undefined) server.close();
  else file.closeServer(server);
  const [kept, ...ready] = await copies;
  const listener = listenerOf(spares, expectDefined(kept, "a descriptor"), ready);
  return {
    ...listener,
    address: opened,
    close() {
      file?.remove();
      listener.close();
    },
  };
}

function listenerOf(spares: number, kept: Handle, ready: Handle[]): Omit<SharedListener, "address"> {
  const given = new Map<number, number>();
  const inode = inodeOf(kept.fd);
  let nextRefillMs = 0;
  let isClosed = false;
  /** Settles when no copies are under way. */
  let making: Promise<unknown> = Promise.resolve();

  function make(count: number): Promise<Handle[]> {
    const copies = copiesOf(kept, count);
    making = Promise.allSettled([making, copies]);
    return copies;
  }

  async function refill(): Promise<void> {
    nextRefillMs = performance.now() + REFILL_PAUSE_MS;
    const more = await make(spares);
    if (isClosed) for (const handle of more) handle.close();
    else ready.push(...more);
  }

  function give(fd: number, thread: number): number {
    given.set(fd, thread);
    return fd;
  }

  /** Numbers of closed descriptors are given to others, also to copies of the same socket. */
  function closeUnused(descriptors: readonly number[]): void {
    const used = new Set([kept, ...ready].map(({ fd }) => fd));
    for (const fd of descriptors) if (!used.has(fd) && !given.has(fd) && inodeOf(fd) === inode) closeSync(fd);
  }

  return {
    async descriptor(thread) {
      const handle = ready.shift() ?? (await make(1))[0];
      return give(expectDefined(handle, "a descriptor").fd, thread);
    },
    spare(thread) {
      // Without one, connections are spread less evenly, no more.
      if (ready.length < FEW * spares && performance.now() >= nextRefillMs) refill().catch(() => undefined);
      const handle = ready.shift();
      return handle && give(handle.fd, thread);
    },
    ended(thread) {
      const own = [...given].flatMap(([fd, owner]) => (owner === thread ? [fd] : []));
      for (const fd of own) given.delete(fd);
      void making.then(() => closeUnused(own));
    },
    close() {
      isClosed = true;
      for (const handle of [kept, ...ready]) handle.close();
    },
  };
}

/** Names the socket or file behind a descriptor, whatever its copies; undefined for a closed one. */
function inodeOf(fd: number): bigint | undefined {
  try {
    return fstatSync(fd, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

/** Copies that are made later. */
async function copiesOf(kept: Handle, count: number): Promise<Handle[]> {
  const copier = startDescriptorCopier();
  try {
    return await copier.copies(kept, count);
  } finally {
    copier.close();
  }
}

/** Node.js sends such an object, but a server that is sent would listen at the other end. */
function handleOf(server: object): Handle {
  return (server as { readonly _handle: Handle })._handle;
}
