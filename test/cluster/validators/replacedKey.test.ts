import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import { freePort, type NodeProcess, runProgram, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

/** The steps of docs/operating/replace-key.md, of a validator that works. */
describe("a validator's key that is replaced", () => {
  itIfThorough("never leaves fewer that work, and the old one only follows afterwards", async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
    const [old, second, third, fourth] = network.members as [Member, Member, Member, Member];
    try {
      const nodes = await network.startAll();
      await reach(nodes, 3);

      const dataPath = join(temporaryFolder(), "new");
      mkdirSync(dataPath);
      const exporting = runProgram([`--data-path=${dataPath}`, "public-key", "export-address"]);
      expect(await exporting.exit).toBe(0);
      const privateKey = hexToBytes(readFileSync(join(dataPath, "key"), "utf8").trim() as Hex);
      const key = { privateKey, address: addressOfPrivateKey(privateKey) };
      const address = toHex(key.address);
      expect(exporting.output()).toContain(address);

      await fourth.node?.stop();
      for (const name of ["chain", "head.log"])
        cpSync(join(fourth.dataPath, name), join(dataPath, name), { recursive: true });
      cpSync(join(old.dataPath, "static-nodes.json"), join(dataPath, "static-nodes.json"));
      await network.start(fourth);
      const newcomer: Member = { key, nodeKey: key, dataPath, peerPort: await freePort(), node: undefined };
      const added = await network.start(newcomer);
      const observer = second.node as NodeProcess;
      await reach([added], await heightOf(observer));
      await untilFollowing(added);

      await vote([old, second, third], address, true);
      await untilValidators(observer, 5, (all) => all.includes(address));
      await until(
        async () => ((await blocksBy(observer, address)) > 0 ? true : undefined),
        "a block of the new one",
      );

      const oldAddress = toHex(old.key.address);
      const remaining = [second, third, newcomer];
      await vote(remaining, oldAddress, false);
      await untilValidators(observer, 4, (all) => !all.includes(oldAddress));
      for (const { node } of [old, ...remaining])
        for (const voted of [address, oldAddress]) await node?.rpc("ibft_discardValidatorVote", [voted]);

      expect(await old.node?.stop()).toBe(0);
      const stoppedAt = await heightOf(observer);
      await reach([added, observer], stoppedAt + 5);
      const again = await network.start(old);
      await reach([again], stoppedAt + 10);
      await untilFollowing(again);
      const validators = await again.rpc<readonly Hex[]>("ibft_getValidatorsByBlockNumber", ["latest"]);
      expect(validators).toHaveLength(4);
      expect(validators).toContain(address);
    } finally {
      await network.stopAll();
    }
  });
});

async function vote(members: readonly Member[], address: Hex, isIn: boolean): Promise<void> {
  for (const { node } of members)
    expect(await node?.rpc("ibft_proposeValidatorVote", [address, isIn])).toBe(true);
}

async function untilFollowing(node: NodeProcess): Promise<void> {
  await until(async () => {
    const { mode } = await node.rpc<{ readonly mode: string }>("ibft_status");
    return mode === "following" ? true : undefined;
  }, "a node that follows");
}

async function untilValidators(
  node: NodeProcess,
  count: number,
  isSet: (all: readonly Hex[]) => boolean,
): Promise<void> {
  await until(async () => {
    const all = await node.rpc<readonly Hex[]>("ibft_getValidatorsByBlockNumber", ["latest"]);
    return all.length === count && isSet(all) ? true : undefined;
  }, `${count} validators`);
}

/** How many of the last hundred blocks this validator has proposed. */
async function blocksBy(node: NodeProcess, address: Hex): Promise<number> {
  const metrics =
    await node.rpc<readonly { readonly address: Hex; readonly proposedBlockCount: Hex }[]>(
      "ibft_getSignerMetrics",
    );
  return Number(metrics.find((each) => each.address === address)?.proposedBlockCount ?? 0);
}
