import { expect, it } from "vitest";
import { otsGetBlockDetails, otsGetBlockTransactions } from "../../../src/rpc/methods/ots/blocks.ts";
import { aChainSpec } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { requesterFor } from "../requester.ts";

it("blocks for Otterscan leave out blooms and logs, and all of the inputs but their selectors", async () => {
  const inputs = [new Uint8Array(0), Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3, 4, 5, 6)];
  const transactions = inputs.map((data, nonce) => aTransaction({ nonce: BigInt(nonce), data }));
  const log = { address: account(9).address, topics: [], data: new Uint8Array(32) };
  const chain = chainOf([
    aStoredBlock(),
    aStoredBlock({ number: 1, transactions, logs: [[log], [log], []] }),
  ]);
  const ask = requesterFor([otsGetBlockDetails, otsGetBlockTransactions], {
    chain,
    spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }),
  });
  expect(await ask("ots_getBlockDetails", 1)).toMatchObject({
    block: { number: "0x1", logsBloom: null, transactionCount: 3, uncles: [] },
  });
  const { fullblock, receipts } = (await ask("ots_getBlockTransactions", 1, 0, 25)) as {
    readonly fullblock: {
      readonly logsBloom: null;
      readonly transactions: readonly { readonly input: string }[];
    };
    readonly receipts: readonly object[];
  };
  expect(fullblock.logsBloom).toBeNull();
  expect(fullblock.transactions.map(({ input }) => input)).toEqual(["0x", "0x010203", "0x01020304"]);
  expect(receipts).toHaveLength(3);
  for (const receipt of receipts)
    expect(receipt).toMatchObject({ status: "0x1", logs: null, logsBloom: null });
});
