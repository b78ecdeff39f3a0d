import { RLP } from "@ethereumjs/rlp";
import { type Hex, keccak256, serializeTransaction, type TransactionSerializable } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { poolOf } from "../../builders/anRpcBackend.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { type Ask, requesterOf } from "../requester.ts";

const RICH = toHex(account(0).address);
const TO = `0x${"ab".repeat(20)}` as const;
const AUTHORIZATION = { chainId: "0x539", address: TO, nonce: "0x0", yParity: "0x1", r: "0x5", s: "0x6" };

interface Filled {
  readonly raw: Hex;
  readonly tx: Readonly<Record<string, unknown>>;
}

async function aRequester(config: object, baseFeePerGas?: string): Promise<Ask> {
  const genesis = { ...(JSON.parse(genesisWith(config)) as object), baseFeePerGas };
  const node = await aChain({ genesis: JSON.stringify(genesis) });
  return requesterOf({ ...node, ...hereWorkers(node), pool: { ...poolOf([]), nextNonce: () => 9n } });
}

let ask: Ask;
/** On a chain whose genesis has a base fee of 1 gwei. */
const fill = async (transaction: object) => (await ask("eth_fillTransaction", transaction)) as Filled;

beforeAll(async () => {
  ask = await aRequester({ zeroBaseFee: false, pragueTime: 0 }, "0x3b9aca00");
});

/** The encoding of viem, with zeros for a signature. */
const encoded = (transaction: TransactionSerializable) =>
  serializeTransaction(transaction, { r: "0x00", s: "0x00", yParity: 0 });

describe("eth_fillTransaction", () => {
  it("fills in nonce, gas limit, fee caps and chain id, and encodes what it filled", async () => {
    const { raw, tx } = await fill({ from: RICH, to: TO, value: "0x5", data: "0x01" });
    expect(raw).toBe(
      encoded({
        type: "eip1559",
        chainId: 1337,
        nonce: 9,
        gas: BigInt(tx["gas"] as string),
        maxPriorityFeePerGas: BigInt(tx["maxPriorityFeePerGas"] as string),
        maxFeePerGas: BigInt(tx["maxFeePerGas"] as string),
        to: TO,
        value: 5n,
        data: "0x01",
      }),
    );
    expect(tx).toMatchObject({
      ...{ type: "0x2", chainId: "0x539", nonce: "0x9", gas: "0x5230", to: TO, value: "0x5" },
      ...{ input: "0x01", gasPrice: null, maxPriorityFeePerGas: "0x0", maxFeePerGas: "0x77359400" },
      ...{ accessList: [], v: "0x0", r: "0x0", s: "0x0", yParity: "0x0", hash: keccak256(raw) },
    });
  });

  it("leaves what it is given", async () => {
    const fees = { maxPriorityFeePerGas: "0x3", maxFeePerGas: "0x77359401" };
    const given = { nonce: "0x4", gas: "0x100000", ...fees };
    expect((await fill({ from: RICH, to: TO, ...given })).tx).toMatchObject(given);
    expect((await fill({ from: RICH, to: TO, gasPrice: "0x77359400" })).tx).toMatchObject({
      ...{ type: "0x0", gasPrice: "0x77359400", maxFeePerGas: null },
    });
  });

  it("takes a given fee cap as the bound of the tip, and a given tip into the fee cap", async () => {
    const capped = await fill({ from: RICH, to: TO, maxFeePerGas: "0x3b9aca00" });
    expect(capped.tx).toMatchObject({ maxFeePerGas: "0x3b9aca00", maxPriorityFeePerGas: "0x0" });
    const tipped = await fill({ from: RICH, to: TO, maxPriorityFeePerGas: "0x7" });
    expect(tipped.tx).toMatchObject({ maxFeePerGas: "0x77359407", maxPriorityFeePerGas: "0x7" });
  });

  it("encodes access lists and authorizations in the type that has them", async () => {
    const accessList = [{ address: TO, storageKeys: [`0x${"01".repeat(32)}`] }] as const;
    const { raw, tx } = await fill({
      from: RICH,
      to: TO,
      accessList,
      gasPrice: "0x77359400",
      gas: "0x10000",
    });
    expect(tx).toMatchObject({ type: "0x1", accessList });
    expect(raw).toBe(
      encoded({
        ...{ type: "eip2930", chainId: 1337, nonce: 9, gas: 65_536n, gasPrice: 2_000_000_000n },
        ...{ to: TO, accessList: [...accessList] },
      } as TransactionSerializable),
    );
    const authorizationList = [AUTHORIZATION];
    const setCode = await fill({
      from: RICH,
      to: TO,
      authorizationList,
      gas: "0x10000",
      maxFeePerGas: "0x1",
    });
    expect(setCode.tx).toMatchObject({ type: "0x4", authorizationList, accessList: [] });
    const fields = RLP.decode(setCode.raw.replace("0x04", "0x") as Hex) as unknown[][];
    expect(fields).toHaveLength(13);
    expect(fields[9]).toHaveLength(1);
  });

  it("fills in a gas price for a type that has one, and where there is no base fee", async () => {
    expect((await fill({ from: RICH, to: TO, type: "0x0" })).tx).toMatchObject({
      type: "0x0",
      maxFeePerGas: null,
    });
    const old = await aRequester({ londonBlock: undefined, shanghaiTime: undefined, cancunTime: undefined });
    const { raw, tx } = (await old("eth_fillTransaction", { from: RICH, to: TO })) as Filled;
    expect(tx).toMatchObject({ type: "0x0", chainId: "0x539", gas: "0x5208" });
    expect((RLP.decode(raw) as Uint8Array[]).length).toBe(9);
  });

  it("says why a transaction would fail", async () => {
    const init = "0x60006000fd";
    expect(await fill({ from: RICH, data: init })).toMatchObject({ code: 3, message: "Execution reverted" });
  });

  it("refuses another chain, blobs, and what cannot be read", async () => {
    expect(await fill({ from: RICH, to: TO, chainId: "0x1" })).toEqual({
      code: -32000,
      message: "chainId does not match node's (have=1, want=1337)",
    });
    const blobVersionedHashes = [`0x01${"0".repeat(62)}`];
    expect(await fill({ from: RICH, to: TO, blobVersionedHashes })).toMatchObject({ code: -32000 });
    for (const wrong of [{ nonce: "x" }, { nonce: "0xffffffffffffffff" }, { type: {} }, { to: "0x1g" }])
      expect(await fill({ from: RICH, ...wrong }), JSON.stringify(wrong)).toEqual(INVALID_PARAMS);
  });
});
