import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex, pad } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { sign } from "../../src/primitives/secp256k1.ts";
import { ACCOUNT_MNEMONIC } from "./contenders.ts";
import { compileToken } from "./token.ts";

export type WorkloadKind = "transfers" | "growth" | "token" | "swap" | "stake";

export const BATCH_SIZE = 100;
const SENDERS = 10;
/** Many more recipients than a block has, so that the state's width is realistic. */
const RECIPIENTS = 20_000;
const CHAIN_ID = 1337n;

/** Pre-signed transactions as JSON-RPC batch bodies. */
export interface Workload {
  readonly name: string;
  readonly setUp: readonly Hex[];
  readonly bodies: readonly Buffer[];
  readonly transactions: number;
}

/** Fields of a transaction; at 1 gwei, which the development accounts can pay. */
export interface Draft {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gasLimit: bigint;
}

/** The funded accounts of the development network. */
export const accounts = Array.from({ length: SENDERS }, (_, addressIndex) => {
  const account = mnemonicToAccount(ACCOUNT_MNEMONIC, { addressIndex });
  const privateKey = account.getHdKey().privateKey;
  if (privateKey === null) throw new Error("no private key");
  return { address: account.address, privateKey };
});

/** Plain transfers from ten senders to 20,000 recipients. Nonces begin at the accounts' current ones. */
export function transferWorkload(count: number, firstNonces: readonly number[]): Workload {
  const bodies = presign(count, firstNonces, (index) => ({
    to: recipient(index),
    value: 1n,
    gasLimit: 21_000n,
  }));
  return { name: "transfers", setUp: [], bodies, transactions: count };
}

/** ERC-20 transfers of a token that the first account deploys with its next nonce. */
export function tokenWorkload(count: number, firstNonces: readonly number[]): Workload {
  const token = compileToken();
  const [deployer] = accounts;
  const deployNonce = firstNonces[0] ?? 0;
  if (deployer === undefined) throw new Error("no account");
  const contract = getContractAddress({ from: deployer.address, nonce: BigInt(deployNonce) });
  const args = [accounts.map(({ address }) => address), 10n ** 30n];
  const data = encodeDeployData({ abi: token.abi, bytecode: token.bytecode, args });
  const deployment = signDraft({ data, gasLimit: 5_000_000n }, deployNonce, deployer.privateKey);
  const nonces = firstNonces.map((nonce, index) => (index === 0 ? nonce + 1 : nonce));
  const bodies = presign(count, nonces, (index) => ({
    to: contract,
    data: encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [recipient(index), 1n] }),
    gasLimit: 80_000n,
  }));
  return { name: "ERC-20 transfers", setUp: [deployment], bodies, transactions: count };
}

export function senderAddresses(): readonly Hex[] {
  return accounts.map(({ address }) => address);
}

function recipient(index: number): Hex {
  return pad(numberToHex(0x1000_0000 + (index % RECIPIENTS) * 7919), { size: 20 });
}

/** JSON-RPC batches of signed transactions, each batch of one sender. */
export function presign(
  count: number,
  firstNonces: readonly number[],
  draft: (index: number) => Draft,
): Buffer[] {
  return [...signAsAsked({ from: 0, until: count }, firstNonces, draft)];
}

/** As presign, for the transactions of a range, each batch signed when it is asked for. */
export function* signAsAsked(
  { from, until }: { readonly from: number; readonly until: number },
  firstNonces: readonly number[],
  draft: (index: number) => Draft,
): Generator<Buffer, void, undefined> {
  const nonces = [...firstNonces];
  for (let start = from; start < until; start += BATCH_SIZE) {
    const calls: string[] = [];
    const sender = Math.floor(start / BATCH_SIZE) % SENDERS;
    for (let index = start; index < Math.min(start + BATCH_SIZE, until); index++) {
      const account = accounts[sender];
      const nonce = nonces[sender];
      if (account === undefined || nonce === undefined) throw new Error("no such sender");
      nonces[sender] = nonce + 1;
      const raw = signDraft(draft(index), nonce, account.privateKey);
      calls.push(`{"jsonrpc":"2.0","id":${index},"method":"eth_sendRawTransaction","params":["${raw}"]}`);
    }
    yield Buffer.from(`[${calls.join(",")}]`);
  }
}

/** A fee-market transaction at 1 gwei, signed with our own primitives: viem takes ten times as long. */
export function signDraft(draft: Draft, nonce: number, privateKey: Uint8Array): Hex {
  const fields = [
    scalar(CHAIN_ID),
    scalar(BigInt(nonce)),
    scalar(GWEI),
    scalar(GWEI),
    scalar(draft.gasLimit),
    encodeRlpString(hexToBytes(draft.to ?? "0x")),
    scalar(draft.value ?? 0n),
    encodeRlpString(hexToBytes(draft.data ?? "0x")),
    encodeRlpList([]),
  ];
  const { r, s, yParity } = sign(keccak256(typed(fields)), privateKey);
  return toHex(typed([...fields, scalar(BigInt(yParity)), scalar(r), scalar(s)]));
}

const GWEI = 1_000_000_000n;

function typed(fields: readonly Uint8Array[]): Uint8Array {
  return concatBytes(Uint8Array.of(2), encodeRlpList(fields));
}

function scalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}
