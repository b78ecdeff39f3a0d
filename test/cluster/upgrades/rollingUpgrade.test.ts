import { expect, it, onTestFinished } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import { type NodeProcess, runProgram, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

/** dist/main.js of an older version, 0.2.0 or later, built beside: without it there is nothing to upgrade from. */
const OLDER = process.env["IBEX_OLDER_PROGRAM"];
/** Two rounds of proposers. */
const BLOCKS = 8;

const itIfOlder = OLDER === undefined ? it.skip : itIfThorough;

itIfOlder(
  "four validators are upgraded one after another from the version of IBEX_OLDER_PROGRAM, and go back, while the others make blocks",
  async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 4 });
    onTestFinished(network.stopAll);
    const { members } = network;
    await Promise.all(members.map((member) => network.startOlder(member, OLDER ?? "")));
    const sent: Hex[] = [];
    const everyone = (): NodeProcess[] => members.flatMap(({ node }) => node ?? []);
    async function goOn(): Promise<void> {
      const from = Math.max(...(await Promise.all(everyone().map(heightOf))));
      for (const { node } of members) if (node) sent.push(await send(node, sent.length));
      await reach(everyone(), from + BLOCKS);
    }
    async function replace(member: Member, start: () => Promise<NodeProcess>): Promise<void> {
      expect(await member.node?.stop()).toBe(0);
      member.node = undefined;
      await goOn();
      await start();
      await goOn();
      const height = await heightOf(everyone()[0] as NodeProcess);
      const newest = await agreedBlocks(everyone()[0] as NodeProcess, height - BLOCKS / 2 + 1, height);
      expect(newest.map(({ proposer }) => proposer)).toContain(toHex(member.key.address));
    }
    await goOn();
    for (const member of members) await replace(member, () => network.start(member));
    for (const member of members) await replace(member, () => network.startOlder(member, OLDER ?? ""));
    const height = Math.min(...(await Promise.all(everyone().map(heightOf))));
    const [first, ...others] = await Promise.all(everyone().map((node) => hashesOf(node, 0, height)));
    for (const chain of others) expect(chain).toEqual(first);
    for (const node of everyone())
      for (const hash of sent)
        expect(await node.rpc("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    for (const { dataPath, node } of members) {
      expect(await node?.stop()).toBe(0);
      const check = runProgram([`--data-path=${dataPath}`, "database", "check"]);
      expect(await check.exit, check.output()).toBe(0);
    }
  },
  1_200_000,
);

async function send(node: NodeProcess, nonce: number): Promise<Hex> {
  const { raw, hash } = aTransaction({
    chainId: CHAIN_ID,
    privateKey: account(0).privateKey,
    nonce: BigInt(nonce),
    gasPrice: 0n,
    to: account(1).address,
  });
  await node.rpc("eth_sendRawTransaction", [toHex(raw)]);
  await until(
    async () => ((await node.rpc("eth_getTransactionReceipt", [toHex(hash)])) === null ? undefined : true),
    `transaction ${toQuantity(nonce)} in a block`,
  );
  return toHex(hash);
}
