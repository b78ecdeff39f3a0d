import { connect, createServer, type Socket } from "node:net";

/**
 * A proxy in front of a port of this machine, whose connections can be cut as by a network that loses every packet: neither
 * end hears of it, and what was sent in the meantime can still arrive later. Connections that come afterwards are whole.
 */
export interface ChokedLink {
  readonly port: number;
  /** From now on those who are connected hear nothing of each other. */
  choke(): void;
  /** Chunks by callers that are kept, of all choked connections. */
  readonly kept: number;
  /** Delivers the first of those chunks. */
  deliverOne(): void;
  /** Resets the choked connections at the end that was called. */
  reset(): void;
  close(): void;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isChoked: boolean;
  readonly kept: Buffer[];
}

export async function openChokedLink(targetPort: number): Promise<ChokedLink> {
  const pairs: Pair[] = [];
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: targetPort });
    const pair: Pair = { near, far, isChoked: false, kept: [] };
    pairs.push(pair);
    near.on("data", (chunk) => {
      if (pair.isChoked) pair.kept.push(chunk);
      else far.write(chunk);
    });
    far.on("data", (chunk) => void (pair.isChoked || near.write(chunk)));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => void (pair.isChoked || other.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const address = server.address();
  const choked = (): Pair[] => pairs.filter(({ isChoked }) => isChoked);
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    choke() {
      for (const pair of pairs) pair.isChoked = true;
    },
    get kept() {
      return choked().reduce((sum, { kept }) => sum + kept.length, 0);
    },
    deliverOne() {
      const pair = choked().find(({ kept }) => kept.length > 0);
      const chunk = pair?.kept.shift();
      if (chunk !== undefined) pair?.far.write(chunk);
    },
    reset() {
      for (const { far } of choked()) far.resetAndDestroy();
    },
    close() {
      server.close();
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
    },
  };
}
