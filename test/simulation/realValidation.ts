import type { HeadChange } from "../../src/chain/onNewHead.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { damageIn } from "../conformance/chains/storeDamage.ts";
import { createCheckers } from "./checkers.ts";
import type { Clients } from "./clients.ts";
import type { RealNode, RunningNode } from "./realNode.ts";

/** Records all that nodes send and announce: whatever was announced must hold for ever. */
export interface RealValidation {
  readonly faults: readonly string[];
  /** The highest announced block. */
  readonly height: number;
  fault(what: string): void;
  /** A validator's own message. */
  onSaid(message: SignedMessage): void;
  /** A node announces blocks. */
  onHeadChanged(node: RealNode, change: HeadChange): void;
  /** Checks that a restarted node has everything that it announced before. */
  onBoot(node: RealNode): void;
  /** What is not settled yet; undefined when all nodes have the same head, at least `goal`, and all pools are empty. */
  unfinished(nodes: readonly RealNode[], goal: number): string | undefined;
  /** Checks everything that the nodes have, to the last entry of their databases. */
  checkEnd(nodes: readonly RealNode[]): Promise<void>;
}

export function createRealValidation(clients: Clients, nowMs: () => number): RealValidation {
  const checkers = createCheckers({ nowMs, isHonest: () => true, blindTo: [] });
  const agreed = new Map<number, string>();
  const announced = new Map<number, Map<number, string>>();
  const faults: string[] = [];
  const fault = (what: string): void => void faults.push(`${what} (at ${nowMs() / 1000} s)`);

  function guarded(check: () => void): void {
    try {
      check();
    } catch (error) {
      fault(error instanceof Error ? error.message : String(error));
    }
  }

  function announcedBy({ index }: RealNode): Map<number, string> {
    const known = announced.get(index) ?? new Map<number, string>();
    announced.set(index, known);
    return known;
  }

  function* missingBlocks({ chain }: RunningNode, told: ReadonlyMap<number, string>): Generator<string> {
    for (const [number, hash] of told) {
      const found = chain.headerByNumber(BigInt(number))?.hash;
      if (found === undefined || toHex(found) !== hash) yield `block ${number} is lost`;
    }
  }

  async function* losses(node: RunningNode): AsyncGenerator<string> {
    yield* missingBlocks(node, agreed);
    const { chain, disk } = node;
    for (const [transaction, block] of clients.told) {
      const found = chain.transactionByHash(hexToBytes(transaction) as Hash)?.block.hash;
      if (found === undefined || toDigits(found) !== block) yield `transaction ${transaction} is lost`;
    }
    const state = chain.stateAt(chain.head.header.number);
    const difference = state === undefined ? "it has no state" : clients.differenceIn(state);
    if (difference !== undefined) yield difference;
    const damage = await damageIn(disk.database);
    if (damage !== undefined) yield damage;
  }

  return {
    faults,
    fault,
    get height() {
      return Math.max(0, ...agreed.keys());
    },
    onSaid: (message) => guarded(() => checkers.onMulticast(message)),
    onHeadChanged(node, { added, removed }) {
      if (removed.length > 0) fault(`node ${node.index} takes blocks back`);
      for (const block of added) {
        const number = Number(block.header.number);
        const hash = toHex(block.hash);
        if ((agreed.get(number) ?? hash) !== hash) fault(`two blocks ${number}`);
        agreed.set(number, hash);
        announcedBy(node).set(number, hash);
        guarded(() => clients.onBlock(block));
      }
    },
    onBoot(node) {
      if (node.running === undefined) return;
      const told = announcedBy(node);
      // They have to be back in the end, as all blocks that were agreed.
      if (node.running.isRestoring)
        for (const number of [...told.keys()])
          if (number > node.running.chain.head.header.number) told.delete(number);
      for (const what of missingBlocks(node.running, told)) fault(`node ${node.index}: ${what}`);
    },
    unfinished(nodes, goal) {
      const up = nodes.flatMap(({ running }) => running ?? []);
      if (up.length < nodes.length) return "a node is down";
      const heads = up.map(({ chain }) => chain.head);
      if (heads.some(({ header }) => header.number < goal)) return `a node has no block ${goal}`;
      if (new Set(heads.map(({ hash }) => toDigits(hash))).size > 1) return "heads differ";
      if (new Set(heads.map(({ header }) => toDigits(header.stateRoot))).size > 1) return "states differ";
      if (clients.unmined > 0) return `${clients.unmined} transactions are not mined`;
      return up.some(({ pool }) => [...pool.entries()].length > 0) ? "a pool is not empty" : undefined;
    },
    async checkEnd(nodes) {
      for (const { index, running } of nodes) {
        if (running === undefined) throw new Error("all nodes are up in the end");
        for await (const what of losses(running)) fault(`node ${index}: ${what}`);
      }
    },
  };
}
