import { describe, expect, it } from "vitest";
import { loggedLines } from "../../builders/loggedLines.ts";
import { itIfThorough, someOf } from "../../thorough.ts";
import { createDatagramNetwork } from "./datagramNetwork.ts";

/** Nodes whose clocks are right, and one that is `skewSeconds` ahead; its warnings after some minutes. */
async function warningsOf(skewSeconds: number, others: number, knowsBootnode = true, minutes = 5) {
  const network = createDatagramNetwork(70);
  const bootnode = network.addNode();
  const { logger, lines } = loggedLines("WARN");
  const wrong = network.addNode({
    bootnodes: knowsBootnode ? [bootnode.contact] : [],
    parts: {
      logger: logger.child("network"),
      epochMs: () => network.clock.nowMs() + skewSeconds * 1000,
    },
  });
  for (let count = 0; count < others; count++)
    network.addNode({ bootnodes: [bootnode.contact, wrong.contact] });
  await network.run(minutes * 60_000);
  return lines;
}

describe("a clock that is wrong", () => {
  it.each(
    someOf<[number, string]>([
      [-300, "300 s behind"],
      [-65, "65 s behind"],
      [65, "65 s ahead"],
      [86_400, "86400 s ahead"],
    ]),
  )("by %i s is warned of, once", async (skewSeconds, said) => {
    expect(await warningsOf(skewSeconds, 4)).toMatchObject([
      { message: expect.stringContaining(`this node's clock seems to be ${said}: `), seconds: skewSeconds },
    ]);
  });

  it.each(someOf([-50, 0, 50]))("by %i s, which others tolerate, is not", async (skewSeconds) => {
    expect(await warningsOf(skewSeconds, 4)).toEqual([]);
  });

  itIfThorough("is warned of again after an hour", async () => {
    expect(await warningsOf(300, 0, true, 90)).toHaveLength(2);
  });

  it("is believed of a bootnode alone, and of no two others", async () => {
    expect(await warningsOf(300, 0)).toHaveLength(1);
    expect(await warningsOf(300, 2, false)).toHaveLength(0);
    expect(await warningsOf(300, 3, false)).toHaveLength(1);
  });
});
