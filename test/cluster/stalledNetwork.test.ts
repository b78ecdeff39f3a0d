import { expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { until } from "./nodeProcess.ts";
import { prepareNetwork } from "./validatorNetwork.ts";

it("names the validators that are down, in the log and by ibft_status, within two rounds", async () => {
  const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
  const [first, second] = await network.startAll();
  if (first === undefined || second === undefined) throw new Error("there are four nodes");
  await until(
    async () => (Number(await first.rpc("eth_blockNumber")) > 3 ? true : undefined),
    30_000,
    "four blocks",
  );
  const dead = network.members.slice(2).map(({ key }) => toHex(key.address));
  for (const { node } of network.members.slice(2)) await node?.kill();
  const killedAtMs = Date.now();
  for (const node of [first, second]) {
    await until(
      async () => {
        const { missing } = await node.rpc<{ missing: readonly string[] }>("ibft_status");
        return missing.join() === dead.join() ? true : undefined;
      },
      20_000,
      "a status that names both",
    );
  }
  const tookMs = Date.now() - killedAtMs;
  await until(
    async () =>
      first.output().includes("2 of 4 validators heard, quorum 3; waiting for ") ? true : undefined,
    20_000,
    "a warning that names both",
  );
  for (const address of dead) expect(first.output()).toContain(`${address} (last heard `);
  expect(first.output()).toContain("not connected)");
  // Two rounds of 2 and 4 s, and what a busy machine adds.
  expect(tookMs).toBeLessThan(15_000);
  await network.stopAll();
}, 120_000);
