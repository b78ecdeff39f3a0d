import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPublicClient, createWalletClient, defineChain, type Hex, http } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HANG_MS } from "../../hang.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

/** Set-code transactions (EIP-7702) on the development network as it is shipped, from clients that use the node's gas estimate. */

const MNEMONIC = "test test test test test test test test test test test junk";
/** Stores its input in slot 0. */
const KEEPER_INIT = "0x66600035600055005f5260076019f3";
const NINE: Hex = `0x${"9".padStart(64, "0")}`;

let node: NodeProcess;
let keeper: Hex;

const at = (index: number) => mnemonicToAccount(MNEMONIC, { addressIndex: index });

function clientsOf(index: number) {
  const chain = defineChain({
    id: 1337,
    name: "Ibex development",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.httpUrl] } },
  });
  const account = at(index);
  return {
    account,
    reader: createPublicClient({
      chain,
      transport: http(undefined, { timeout: HANG_MS }),
      pollingInterval: 100,
    }),
    wallet: createWalletClient({ chain, account, transport: http(undefined, { timeout: HANG_MS }) }),
  };
}

beforeAll(async () => {
  node = await startNodeProcess();
  const { reader, wallet } = clientsOf(0);
  const hash = await wallet.deployContract({ abi: [], bytecode: KEEPER_INIT });
  const receipt = await reader.waitForTransactionReceipt({ hash });
  keeper = receipt.contractAddress as Hex;
  expect(await node.rpc("eth_getCode", [keeper, "latest"])).toBe("0x60003560005500");
});

afterAll(async () => {
  expect(await node.stop()).toBe(0);
});

async function slotOf(address: Hex): Promise<Hex> {
  return node.rpc<Hex>("eth_getStorageAt", [address, "0x0", "latest"]);
}

describe("a set-code transaction without a gas value", () => {
  it("is sent by viem for another account, and for the sender's own", async () => {
    const { reader, wallet } = clientsOf(1);
    const authority = at(2);
    const other = await clientsOf(2).wallet.signAuthorization({ contractAddress: keeper });
    const hash = await wallet.sendTransaction({
      to: authority.address,
      data: NINE,
      authorizationList: [other],
    });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: "success", type: "eip7702" });
    expect(await slotOf(authority.address)).toBe(NINE);
    const own = await wallet.signAuthorization({ contractAddress: keeper, executor: "self" });
    const second = await wallet.sendTransaction({
      to: wallet.account.address,
      data: NINE,
      authorizationList: [own],
    });
    expect(await reader.waitForTransactionReceipt({ hash: second })).toMatchObject({ status: "success" });
    expect(await slotOf(wallet.account.address)).toBe(NINE);
  });

  it("is sent by cast", async () => {
    const { account } = clientsOf(3);
    const key = `0x${Buffer.from(account.getHdKey().privateKey ?? []).toString("hex")}`;
    const options = ["--auth", keeper, "--private-key", key, "--json"];
    const sent = JSON.parse(await cast("send", account.address, NINE, ...options)) as Record<string, unknown>;
    expect(sent).toMatchObject({ status: "0x1", type: "0x4" });
    expect(await slotOf(account.address)).toBe(NINE);
  });
});

async function cast(...args: string[]): Promise<string> {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const manifest = createRequire(import.meta.url).resolve(`@foundry-rs/cast-${platform}/package.json`);
  const { stdout } = await promisify(execFile)(join(manifest, "..", "bin", "cast"), args, {
    env: { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl },
  });
  return stdout.trim();
}
