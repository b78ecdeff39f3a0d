import { createServer } from "node:net";
import { expectDefined } from "../../primitives/assert.ts";
import { listen, portOf } from "../../rpc/server/server.ts";
import { type DescriptorCopier, type Handle, startDescriptorCopier } from "./descriptorCopier.ts";

/**
 * One listening port for several threads. Each has a descriptor of its own, because a thread that ends closes its
 * descriptors: one that several shared would be closed for all, and its number given to another file.
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
export async function openSharedListener(
  host: string,
  port: number,
  count: number,
  copier: DescriptorCopier,
): Promise<SharedListener> {
  const server = createServer();
  await listen(server, host, port);
  const opened = portOf(server);
  const copies = copier.copies(handleOf(server), count + 1);
  server.close();
  const [kept, ...ready] = await copies;
  return listenerOf(opened, expectDefined(kept, "a descriptor"), ready);
}

function listenerOf(port: number, kept: Handle, ready: Handle[]): SharedListener {
  return {
    port,
    async descriptor() {
      const handle = ready.shift() ?? (await oneMore(kept));
      return handle.fd;
    },
    close() {
      for (const handle of [kept, ...ready]) handle.close();
    },
  };
}

/** A copy for a thread that is started again. */
async function oneMore(kept: Handle): Promise<Handle> {
  const copier = startDescriptorCopier();
  try {
    return expectDefined((await copier.copies(kept, 1))[0], "a descriptor");
  } finally {
    copier.close();
  }
}

/** Node.js sends such an object, but a server that is sent would listen at the other end. */
function handleOf(server: object): Handle {
  return (server as { readonly _handle: Handle })._handle;
}
