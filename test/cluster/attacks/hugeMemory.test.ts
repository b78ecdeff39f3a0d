import { expect } from "vitest";
import { type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import { logOf, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork } from "../harness/validatorNetwork.ts";

/** Stores a word at 0xffef0000, for 3.5e13 gas: four validators stood still over it. */
const TOO_FAR = aTransaction({
  chainId: CHAIN_ID,
  to: undefined,
  data: hexToBytes("0x600163ffef00005200"),
  gasLimit: 100_000_000_000_000n,
  gasPrice: 0n,
  value: 0n,
  privateKey: accountFromSeed(100).privateKey,
});

const PAYMENT = aTransaction({
  chainId: CHAIN_ID,
  gasPrice: 0n,
  value: 0n,
  privateKey: accountFromSeed(200).privateKey,
});

// test/chain/executionFaults.test.ts and test/execution/hugeGas.test.ts cover it in the daily run, on one node.
itIfThorough(
  "a free transaction that buys memory beyond what Besu has leaves the pools of four validators, and blocks go on",
  async () => {
    const network = await prepareNetwork({
      validators: 4,
      options: ["--logging=INFO", "--logging-format=json"],
    });
    try {
      const nodes = await network.startAll();
      await reach(nodes, 2);
      const [, sentTo, another] = nodes;
      if (sentTo === undefined || another === undefined) throw new Error("four nodes");
      const hash = toHex(TOO_FAR.hash);
      expect(await sentTo.rpc<Hex>("eth_sendRawTransaction", [toHex(TOO_FAR.raw)])).toBe(hash);
      // Each of the four proposes twice.
      await reach(nodes, (await heightOf(sentTo)) + 8);
      for (const node of nodes) {
        const isGone = async () => (await node.rpc("eth_getTransactionByHash", [hash])) === null || undefined;
        await until(isGone, "the pool without the transaction");
        expect(await node.rpc("txpool_status")).toMatchObject({ pending: "0x0", queued: "0x0" });
        expect(await node.rpc("eth_getTransactionReceipt", [hash])).toBeNull();
      }
      // A busy node may set it aside first, as too slow; who was sent it says in the end that no block has it.
      const lines = logOf(sentTo).filter((line) => line["hash"] === hash);
      expect(lines.at(-1)).toMatchObject({
        message: "a local transaction left the pool without being mined",
        reason: expect.any(String),
      });
      await another.rpc("eth_sendRawTransaction", [toHex(PAYMENT.raw)]);
      const isPaid = async () =>
        (await sentTo.rpc("eth_getTransactionReceipt", [toHex(PAYMENT.hash)])) ?? undefined;
      expect(await until(isPaid, "a later payment")).toMatchObject({ status: "0x1" });
    } finally {
      await network.stopAll();
    }
  },
);
