import { createPublicClient, createWalletClient, defineChain, type Hex, http, parseEther } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { DEV_MNEMONIC } from "../../src/config/devNetwork.ts";
import type { NodeProcess } from "../cluster/harness/nodeProcess.ts";
import { type CompiledContract, compileSource } from "../contracts/compile.ts";
import { HANG_MS } from "../hang.ts";

/** Text that a page must show as text: markup that runs, and marks that turn the direction of writing. */
export const HOSTILE_NAME = "<img src=x onerror=globalThis.hacked=1>\u202e<script>hacked=1</script>";
export const HOSTILE_REASON = '"><svg onload=globalThis.hacked=1><b>no</b>';

const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract HostileToken {
  mapping(address => uint256) public balanceOf;
  uint256 public totalSupply;
  string public name;
  string public symbol = "<b>HT</b>";
  uint8 public constant decimals = 18;
  string public note;
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Noted(address indexed who, string note);
  error Insufficient(uint256 have, uint256 want, string why);
  constructor(string memory called) { name = called; totalSupply = 1e24; balanceOf[msg.sender] = 1e24; emit Transfer(address(0), msg.sender, 1e24); }
  function transfer(address to, uint256 value) external returns (bool) {
    if (balanceOf[msg.sender] < value) revert Insufficient(balanceOf[msg.sender], value, '${HOSTILE_REASON}');
    balanceOf[msg.sender] -= value; balanceOf[to] += value; emit Transfer(msg.sender, to, value); return true;
  }
  function setNote(string calldata next) external payable { note = next; emit Noted(msg.sender, next); }
  function refuse() external pure { revert('${HOSTILE_REASON}'); }
}
contract Leaf {
  uint256 public value;
  function set(uint256 next) external payable { value = next; }
  function refuse() external pure { revert('${HOSTILE_REASON}'); }
}
contract Root {
  Leaf public leaf = new Leaf();
  function work(uint256 next) external payable {
    leaf.set{value: msg.value}(next);
    try leaf.refuse() {} catch {}
    leaf = new Leaf();
  }
}`;

/** What a chain with real traffic has of everything that the pages show. */
export interface Traffic {
  readonly token: Hex;
  readonly tokenAbi: CompiledContract["abi"];
  readonly sender: Hex;
  readonly transfer: Hex;
  readonly tokenTransfer: Hex;
  readonly calls: Hex;
  readonly noted: Hex;
  readonly refused: Hex;
  readonly reverted: Hex;
  readonly creation: Hex;
}

/** The first account of the development network, as a wallet has it. */
export function openDevWallet({ httpUrl }: Pick<NodeProcess, "httpUrl">) {
  const chain = defineChain({
    id: 1337,
    name: "development",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [httpUrl] } },
  });
  const account = mnemonicToAccount(DEV_MNEMONIC);
  const options = { chain, transport: http(undefined, { timeout: HANG_MS }), pollingInterval: 100 };
  const wallet = createWalletClient({ account, ...options });
  const reader = createPublicClient(options);
  const mined = (hash: Hex) => reader.waitForTransactionReceipt({ hash });
  return { account, wallet, mined };
}

/** Sends it from accounts of the development network. */
export async function makeTraffic(node: NodeProcess): Promise<Traffic> {
  const { account, wallet, mined } = openDevWallet(node);
  const other = mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 1 });
  const { HostileToken, Root } = compileSource(SOURCE, ["HostileToken", "Root"], "cancun");
  const deploy = async ({ abi, bytecode }: CompiledContract, ...args: readonly string[]) => {
    const { contractAddress, transactionHash } = await mined(
      await wallet.deployContract({ abi, bytecode, args }),
    );
    return { abi, address: contractAddress ?? "0x", hash: transactionHash };
  };
  const token = await deploy(HostileToken, HOSTILE_NAME);
  const root = await deploy(Root);
  const write = (contract: typeof token, functionName: string, args: readonly unknown[], more = {}) =>
    wallet.writeContract({ ...contract, functionName, args, ...more });
  const transfer = await wallet.sendTransaction({ to: other.address, value: parseEther("1.5") });
  const tokenTransfer = await write(token, "transfer", [other.address, parseEther("12.25")]);
  const calls = await write(root, "work", [7n], { value: 3n, gas: 2_000_000n });
  const noted = await write(token, "setNote", [HOSTILE_NAME]);
  const refused = await write(token, "transfer", [other.address, 10n ** 30n], { gas: 200_000n });
  const reverted = await write(token, "refuse", [], { gas: 100_000n });
  for (const hash of [transfer, tokenTransfer, calls, noted, refused, reverted]) await mined(hash);
  return {
    token: token.address,
    tokenAbi: token.abi,
    sender: account.address,
    transfer,
    tokenTransfer,
    calls,
    noted,
    refused,
    reverted,
    creation: token.hash,
  };
}
