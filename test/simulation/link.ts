import type { Agenda } from "./agenda.ts";
import type { Random } from "./random.ts";
import type { NetworkConditions } from "./setting.ts";

/** The network between the nodes, which are numbers here. */
export interface Link {
  /** Calls `deliver` on arrival: never, once or twice, after a varying delay. */
  carry(from: number, to: number, deliver: () => void): void;
  /** Ends a partition. */
  heal(): void;
  readonly figures: Readonly<LinkFigures>;
}

export interface LinkFigures {
  messages: number;
  /** By chance or by a partition. */
  lost: number;
  duplicated: number;
  partitions: number;
}

const PARTITION_MS = 4_000;
const STRAGGLER_FACTOR = 10;

export interface LinkParts {
  readonly nodes: number;
  readonly agenda: Agenda;
  readonly random: Random;
  conditions(): NetworkConditions;
  /** Called when the network is partitioned or healed: the nodes on one side, whose messages alone are lost if it is one-way. */
  onParted(side: ReadonlySet<number>, isOneWay: boolean): void;
}

export function createLink({ nodes, agenda, random, conditions, onParted }: LinkParts): Link {
  const parted = new Set<number>();
  let isOneWay = false;
  const figures: LinkFigures = { messages: 0, lost: 0, duplicated: 0, partitions: 0 };

  const about = (durationMs: number): number => durationMs * (0.5 + random.next() / 2);

  const isApart = (): boolean => parted.size > 0 && parted.size < nodes;

  /** Partitions the nodes in two groups at times; messages between the groups are lost, in both directions or one. */
  function part(): void {
    const wasApart = isApart();
    const isParted = random.chance(conditions().partition);
    isOneWay = random.chance(0.5);
    parted.clear();
    for (let node = 0; node < nodes; node++) if (isParted && random.chance(0.4)) parted.add(node);
    if (isApart()) figures.partitions += 1;
    if (isApart() || wasApart) onParted(isApart() ? parted : new Set(), isOneWay);
    agenda.plan(agenda.nowMs + about(PARTITION_MS), part);
  }

  function isCut(from: number, to: number): boolean {
    return isOneWay ? parted.has(from) && !parted.has(to) : parted.has(from) !== parted.has(to);
  }

  part();
  return {
    carry(from, to, deliver) {
      const { loss, duplication, delayMs, straggling } = conditions();
      figures.messages += 1;
      if (isCut(from, to) || random.chance(loss)) {
        figures.lost += 1;
        return;
      }
      const copies = random.chance(duplication) ? 2 : 1;
      figures.duplicated += copies - 1;
      for (let copy = 0; copy < copies; copy++) {
        const longestMs = random.chance(straggling) ? delayMs * STRAGGLER_FACTOR : delayMs;
        agenda.plan(agenda.nowMs + about(longestMs), deliver);
      }
    },
    heal: () => parted.clear(),
    figures,
  };
}
