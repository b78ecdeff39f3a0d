import { describe, expect } from "vitest";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

const MODEXP = "0x0000000000000000000000000000000000000005";
const EXPONENT_BYTES = 200_000;
const WAITED_MS = HANG_MS;

describe("a precompiled contract with excessive lengths", () => {
  itIfThorough("crashes no node, returns the right result, and delays no blocks", async () => {
    const node = await startNodeProcess();
    const lengths = [1n, 80_000_000n, 1n].map((length) => bigintToFixedBytes(length, 32));
    const call = { to: MODEXP, data: toHex(concatBytes(...lengths, Uint8Array.of(3, 0xff))) };

    // The modulus lies beyond the input, so it and the result are zero, and the exponent is not read.
    expect(await node.rpc("eth_call", [call, "latest"])).toBe("0x00");
    const gas = Number(await node.rpc<string>("eth_estimateGas", [call]));
    expect(gas).toBeGreaterThan(PRICE);
    expect(gas).toBeLessThan(PRICE * 1.05 + 100_000);

    const { raw, hash } = aTransaction({
      to: undefined,
      value: 0n,
      gasLimit: 900_000n,
      gasPrice: 0n,
      data: powerInCreation(),
    });
    await node.rpc("eth_sendRawTransaction", [toHex(raw)]);
    const receipt = await receiptOf(node, toHex(hash));
    expect(receipt.status).toBe("0x1");
    expect(Number(receipt.gasUsed)).toBeGreaterThan((8 * EXPONENT_BYTES) / 3);
    expect(await node.rpc("eth_getStorageAt", [receipt.contractAddress, "0x0", "latest"])).toBe(
      toHex(bigintToFixedBytes(powerOfThree(), 32)),
    );
    expect(await node.rpc("eth_getTransactionCount", [toHex(account(0).address), "latest"])).toBe("0x1");
    const height = Number(await node.rpc<string>("eth_blockNumber"));
    await expect
      .poll(() => node.rpc<string>("eth_blockNumber").then(Number), { timeout: WAITED_MS })
      .toBeGreaterThan(height);
    expect(await node.stop()).toBe(0);
  });
});

/** EIP-2565: a third of the iteration count. */
const PRICE = Math.floor((8 * (80_000_000 - 32) + 255) / 3);

/** Init code that stores 3^(2^256 - 1 and many zero bytes) modulo 253. */
function powerInCreation(): Uint8Array {
  const push = (value: bigint | number): string => {
    const digits = toQuantity(value).slice(2);
    const even = digits.length % 2 === 0 ? digits : `0${digits}`;
    return (0x5f + even.length / 2).toString(16) + even;
  };
  const store = (at: number, value: bigint | number): string => `${push(value)}${push(at)}52`;
  const storeByte = (at: number, value: number): string => `${push(value)}${push(at)}53`;
  const code = [
    ...[store(0, 1), store(32, EXPONENT_BYTES), store(64, 1), storeByte(96, 3)],
    ...[store(97, 2n ** 256n - 1n), storeByte(97 + EXPONENT_BYTES, 253)],
    // STATICCALL(GAS, 5, 0, length, 31, 1): the result replaces the last byte of the first length; the others are zero
    ...[push(1), push(31), push(98 + EXPONENT_BYTES), push(0), push(5), "5afa50"],
    ...[push(0), "51", push(0), "5500"],
  ];
  return hexToBytes(`0x${code.join("")}`);
}

/** The order of 3 modulo 253 divides 110. */
function powerOfThree(): bigint {
  let exponent = 0n;
  for (let at = 0; at < EXPONENT_BYTES; at++) exponent = (exponent * 256n + (at < 32 ? 255n : 0n)) % 110n;
  return 3n ** exponent % 253n;
}

interface Receipt {
  readonly status: string;
  readonly gasUsed: string;
  readonly contractAddress: string;
}

async function receiptOf(node: NodeProcess, hash: string): Promise<Receipt> {
  const end = Date.now() + WAITED_MS;
  for (;;) {
    const receipt = await node.rpc<Receipt | null>("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt;
    if (Date.now() > end) throw new Error(`no block took the transaction in ${WAITED_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
