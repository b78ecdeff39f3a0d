import { describe, expect, it } from "vitest";
import { itIfThorough, someOf } from "../thorough.ts";
import { AS_BESU, FORGETS_VOTES } from "./sabotage.ts";
import { FAULT_FREE, USUAL_LIMITS } from "./setting.ts";
import type { Sabotage } from "./simulatedNode.ts";
import { createNetwork } from "./simulator.ts";

/** How long a chain that stalled for lack of validators remains stalled when all are back; round 0 lasts 2 s. */
describe("a stalled network of Ibex and Besu in which all restart at once", () => {
  itIfThorough("has its next block in a fraction of the time that it was stalled", async () => {
    for (const kinds of someOf(["IIBB", "IBBB", "IIIB", "IIII", "IIIIBBB"])) {
      const waitsMs = await Promise.all(
        choicesOf(kinds).map((up) => waitMs({ kinds, up, stoodMs: 270_000 })),
      );
      expect([kinds, Math.max(...waitsMs) <= 60_000]).toEqual([kinds, true]);
    }
  });

  it("has it at once when ours have no vote logs", async () => {
    for (const kinds of someOf(["IIBB", "IIIIBBB"])) {
      const waitsMs = await Promise.all(
        choicesOf(kinds).map((up) => waitMs({ kinds, up, stoodMs: 3_600_000, ours: FORGETS_VOTES })),
      );
      // Besu takes most of it to start.
      expect([kinds, Math.max(...waitsMs) <= 15_000]).toEqual([kinds, true]);
    }
  });
});

interface Outage {
  /** I for Ibex, B for Besu, in the order of their addresses. */
  readonly kinds: string;
  /** U for those that were up while the chain was stalled. */
  readonly up: string;
  readonly stoodMs: number;
  readonly ours?: Sabotage;
}

const STARTS_MS = { I: 1_000, B: 8_000 };

async function waitMs({ kinds, up, stoodMs, ours = {} }: Outage): Promise<number> {
  const { agenda, nodes, runUntil } = createNetwork(
    {
      ...{ seed: 1, nodes: kinds.length, validators: kinds.length, byzantine: 0, isRuthless: false },
      ...{ conditions: FAULT_FREE, relays: { links: 1, limits: USUAL_LIMITS } },
    },
    // Besu contradicts its earlier votes, and so do validators without their vote logs.
    { sabotageOf: (index) => (kinds[index] === "B" ? AS_BESU : ours), blindTo: ["promise", "order"] },
  );
  const heightOf = (): number => Math.max(...nodes.map(({ chain }) => chain.length));
  await runUntil(5_000);
  for (const { index, stop } of nodes) if (up[index] !== "U") stop();
  await runUntil(agenda.nowMs + stoodMs);
  for (const { stop } of nodes) stop();
  const backAtMs = agenda.nowMs;
  const height = heightOf();
  for (const { index, boot } of nodes)
    agenda.plan(backAtMs + STARTS_MS[kinds[index] === "B" ? "B" : "I"] + 500 * index, boot);
  while (heightOf() === height && agenda.nowMs < backAtMs + 4 * stoodMs) await runUntil(agenda.nowMs + 250);
  return agenda.nowMs - backAtMs;
}

/** One validator less than a quorum, in several choices of them. */
function choicesOf({ length }: string): readonly string[] {
  const choices = Array.from({ length: 2 ** length }, (_, bits) =>
    Array.from({ length }, (_, index) => ((bits >> index) & 1 ? "U" : "-")).join(""),
  );
  const ofThatMany = choices.filter((up) => up.split("U").length === Math.ceil((2 * length) / 3));
  return ofThatMany.filter((_, index) => index % Math.ceil(ofThatMany.length / 6) === 0);
}
