import type { Agenda } from "./agenda.ts";
import type { Random } from "./random.ts";
import type { Weather } from "./weather.ts";

/** The network between the nodes, which are numbers here. */
export interface Link {
  /** Calls `deliver` when it arrives: never, once or twice, sooner or later. */
  carry(from: number, to: number, deliver: () => void): void;
  /** Ends a partition. */
  heal(): void;
}

const PARTING_MS = 4_000;
const STRAGGLER_FACTOR = 10;

export function createLink(nodes: number, agenda: Agenda, random: Random, weather: () => Weather): Link {
  const parted = new Set<number>();
  let isOneWay = false;

  const about = (durationMs: number): number => durationMs * (0.5 + random.next() / 2);

  /** Nodes are parted in two groups anew every now and then; what goes from one to the other, or one way only, is lost. */
  function part(): void {
    const isParted = random.chance(weather().partition);
    isOneWay = random.chance(0.5);
    parted.clear();
    for (let node = 0; node < nodes; node++) if (isParted && random.chance(0.4)) parted.add(node);
    agenda.plan(agenda.nowMs + about(PARTING_MS), part);
  }

  function isCut(from: number, to: number): boolean {
    return isOneWay ? parted.has(from) && !parted.has(to) : parted.has(from) !== parted.has(to);
  }

  part();
  return {
    carry(from, to, deliver) {
      const { loss, duplication, delayMs, straggling } = weather();
      if (isCut(from, to) || random.chance(loss)) return;
      const copies = random.chance(duplication) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        const longestMs = random.chance(straggling) ? delayMs * STRAGGLER_FACTOR : delayMs;
        agenda.plan(agenda.nowMs + about(longestMs), deliver);
      }
    },
    heal: () => parted.clear(),
  };
}
