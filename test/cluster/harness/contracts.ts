import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { type NodeProcess, until } from "./nodeProcess.ts";

/** Counts down from its argument, with seven steps each time. */
export const COUNTER = "5f355b600190038060025700";
/** Counts down from its argument, and logs an empty word each time. */
export const LOGGER = "5f355b60205fa0600190038060025700";

/** Deploys a contract with this code, of less than 256 bytes, from the first test account; returns its address. */
export async function contractIn(node: NodeProcess, code: string): Promise<string> {
  const nonce = BigInt(
    await node.rpc<string>("eth_getTransactionCount", [toHex(account(0).address), "latest"]),
  );
  const length = (code.length / 2).toString(16).padStart(2, "0");
  const { raw } = aTransaction({
    nonce,
    to: undefined,
    value: 0n,
    gasLimit: 200_000n,
    data: hexToBytes(`0x60${length}8060093d393df3${code}`),
  });
  const hash = await node.rpc<string>("eth_sendRawTransaction", [toHex(raw)]);
  const mined = async () => node.rpc<{ contractAddress: string } | null>("eth_getTransactionReceipt", [hash]);
  const { contractAddress } = await until(async () => (await mined()) ?? undefined, "a contract");
  return contractAddress;
}
