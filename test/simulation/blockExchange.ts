import type { IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { IN_SYNC_DISTANCE } from "../../src/sync/limits.ts";
import type { ByzantineValidator } from "./byzantineValidator.ts";
import type { Link } from "./link.ts";
import type { Random } from "./random.ts";
import type { NetworkConditions } from "./setting.ts";
import type { SimulatedNode } from "./simulatedNode.ts";
import { isImportable, isSound, type SealedBlock, sealBlock } from "./toyLedger.ts";

/** How blocks get into chains: by a node's own commit, or from another node that has more blocks. */
export interface BlockExchange {
  /** Durable before it is announced; false when the block does not follow the head. */
  commit(node: SimulatedNode, candidate: Candidate, seals: readonly Signature[]): Promise<boolean>;
  /** For one run of a node: fetches blocks from another node every few seconds. */
  begin(node: SimulatedNode): void;
  crashed(node: SimulatedNode): void;
}

export interface BlockExchangeParts {
  readonly random: Random;
  readonly link: Link;
  readonly schedule: IbftSchedule;
  readonly byzantine: ReadonlyMap<SimulatedNode, ByzantineValidator>;
  /** A node that is far behind pauses while it catches up, which takes time. */
  readonly isSlowToCatchUp: boolean;
  conditions(): NetworkConditions;
  importsUnsealed(node: SimulatedNode): boolean;
  about(durationMs: number): number;
  tipOf(node: SimulatedNode): Head;
  /** The connected nodes. */
  known(node: SimulatedNode): readonly SimulatedNode[];
  append(node: SimulatedNode, block: SealedBlock): void;
}

const LOOK_EVERY_MS = 3_000;
const FETCH_BLOCK_MS = 100;
/** How long a disk stays full. */
const HOLD_MS = 6_000;

export function createBlockExchange(parts: BlockExchangeParts): BlockExchange {
  const { random, link, conditions, about, tipOf, known, append } = parts;
  const committing = new Map<SimulatedNode, SealedBlock>();

  function finishCommit(node: SimulatedNode): boolean {
    const block = committing.get(node);
    committing.delete(node);
    if (block === undefined || !equalBytes(block.candidate.header.parentHash, tipOf(node).hash)) return false;
    append(node, block);
    return true;
  }

  function lookNowAndThen(node: SimulatedNode): void {
    node.plan(about(LOOK_EVERY_MS), () => {
      const others = known(node);
      const other = others[random.between(0, others.length - 1)];
      if (other !== undefined) offerBlocks(node, other);
      if (conditions().pause > 0 && random.chance(conditions().pause)) holdForAWhile(node);
      lookNowAndThen(node);
    });
  }

  function holdForAWhile({ holds, plan }: SimulatedNode): void {
    holds.pause("diskAlmostFull");
    plan(about(HOLD_MS), () => holds.resume("diskAlmostFull"));
  }

  /** Fetches all missing blocks up to a block, and validates each. */
  function offerBlocks(node: SimulatedNode, to: SimulatedNode): void {
    if (to === node) return;
    const { length } = node.chain;
    const forged = parts.byzantine.get(node)?.forgeBlock(tipOf(to));
    if (forged === undefined && (to.chain.length >= length || random.chance(conditions().blockLoss))) return;
    link.carry(node.index, to.index, () => {
      if (to.state === undefined) return;
      const offered = forged === undefined ? node.chain.slice(to.chain.length, length) : [forged];
      if (parts.isSlowToCatchUp && offered.length > IN_SYNC_DISTANCE) takeSlowly(to, offered);
      else take(to, offered);
    });
  }

  function take(node: SimulatedNode, offered: readonly SealedBlock[]): void {
    for (const block of offered) {
      const tip = tipOf(node);
      if (!isImportable(tip, block) && !(parts.importsUnsealed(node) && isSound(tip, block.candidate)))
        return;
      append(node, block);
    }
  }

  /** Pauses like the real node: a validator decides only the block after the newest known one. */
  function takeSlowly(node: SimulatedNode, offered: readonly SealedBlock[]): void {
    const { holds } = node;
    holds.pause("catchingUp");
    node.plan(about(FETCH_BLOCK_MS * offered.length), () => {
      const tip = tipOf(node).header.number;
      take(
        node,
        offered.filter(({ head }) => head.header.number > tip),
      );
      holds.resume("catchingUp");
    });
  }

  return {
    commit(node, candidate, seals) {
      const tip = tipOf(node);
      if (equalBytes(candidate.hash, tip.hash)) return Promise.resolve(true);
      if (!equalBytes(candidate.header.parentHash, tip.hash)) return Promise.resolve(false);
      committing.set(node, sealBlock(tip, candidate, seals, parts.schedule));
      return new Promise((resolve) =>
        node.plan(about(conditions().commitMs), () => {
          const isDone = finishCommit(node);
          resolve(isDone);
          if (isDone) for (const other of known(node)) if (other !== node) offerBlocks(node, other);
        }),
      );
    },
    begin: lookNowAndThen,
    /** A block that was being written may be on disk or not. */
    crashed(node) {
      if (random.chance(0.5)) finishCommit(node);
      committing.delete(node);
    },
  };
}
