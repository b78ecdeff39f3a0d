import { forkAt } from "../../../src/chainspec/forks.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import type { BuiltBlock } from "../../../src/execution/buildBlock.ts";
import { nextGasLimit } from "../../../src/execution/gasLimit.ts";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, type Hash, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../../src/primitives/quantity.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import type { Block } from "../../../src/types/block.ts";
import { EMPTY_BLOOM } from "../../../src/types/bloom.ts";
import type { Header } from "../../../src/types/header.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { bytesOfHex } from "../suites/preState.ts";
import { buildFrom } from "./builder.ts";
import { nextDifficulty } from "./difficulty.ts";
import type { ForeignChain } from "./foreignChain.ts";
import { foreignBlockRules } from "./foreignExecution.ts";

/** A block to build, in the format of Besu's `blocks import --format=JSON`: its contents, not its results. */
export interface JsonBlock {
  readonly number?: number | string;
  readonly parentHash?: string;
  readonly coinbase?: string;
  readonly extraData?: string;
  readonly extradata?: string;
  readonly transactions: readonly JsonTransaction[];
}

/** Signed by the key, without replay protection, with the sender's next nonce. */
export interface JsonTransaction {
  readonly secretKey: string;
  readonly gasLimit: string;
  readonly gasPrice: string;
  readonly to?: string;
  readonly value?: string;
  readonly data?: string;
}

/** Header fields that the sealer chooses. */
export type SealerFields = Pick<Header, "timestamp" | "mixHash" | "nonce">;

type BuildErrorCode = "noSuchParent" | "transactionLeftOut" | "unsupportedFields";

/** Builds a block on the head of the chain with our block builder, without importing it. */
export async function buildJsonBlock(
  chain: ForeignChain,
  instructions: JsonBlock,
  sealerFields: SealerFields,
): Promise<Result<Block<SentTransaction>, BuildErrorCode>> {
  await chain.goTo(chain.head);
  const { number, parentHash } = instructions;
  const isOnHead =
    (number === undefined || BigInt(number) === chain.head.header.number + 1n) &&
    (parentHash === undefined || parentHash === toHex(chain.head.hash));
  if (!isOnHead) return refuse("noSuchParent", "the block is not the next one");
  const { coinbase, extraData } = instructions;
  if (chain.rules.isClique && (coinbase !== undefined || extraData !== undefined))
    return refuse("unsupportedFields", "Clique uses coinbase and extra data itself");
  const template = templateOf(chain, instructions, sealerFields);
  const wanted = signAll(chain, instructions.transactions);
  const built = await fill(chain, template, wanted);
  if (built.transactions.length < wanted.length)
    return refuse(
      "transactionLeftOut",
      `${wanted.length - built.transactions.length} transactions do not fit`,
    );
  const header: Header = {
    ...template,
    stateRoot: chain.world.stage(built.overlay.changes(), template.number).root,
    transactionsRoot: rootOfList(built.transactions.map(({ raw }) => raw)),
    receiptsRoot: rootOfList(built.receipts.map(encodeReceipt)),
    logsBloom: built.logsBloom,
    gasUsed: built.gasUsed,
  };
  return ok({ header, transactions: built.transactions, ommers: [] });
}

/** The header without the results of the transactions. */
function templateOf(chain: ForeignChain, instructions: JsonBlock, sealerFields: SealerFields): Header {
  const { rules, head } = chain;
  const { timestamp } = sealerFields;
  const parent = head.header;
  const number = parent.number + 1n;
  const baseFeePerGas = nextBaseFee(rules.spec, parent, timestamp);
  const fork = forkAt(rules.spec.forks, number, timestamp);
  return {
    parentHash: head.hash,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: addressOf(instructions.coinbase ?? "0x"),
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: rules.fixedDifficulty ?? nextDifficulty(fork, parent, timestamp),
    number,
    gasLimit: nextGasLimit(rules.spec, parent, timestamp, undefined),
    gasUsed: 0n,
    extraData: bytesOfHex(instructions.extraData ?? instructions.extradata ?? "0x"),
    ...sealerFields,
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
  };
}

function fill(chain: ForeignChain, header: Header, wanted: readonly SentTransaction[]): Promise<BuiltBlock> {
  const context = foreignBlockRules({
    rules: chain.rules,
    block: { header, ommers: [] },
    parentTotalDifficulty: chain.head.totalDifficulty,
    ancestorHash: chain.hashOf,
  });
  return buildFrom(context, wanted, chain.world.overlay());
}

function signAll(chain: ForeignChain, transactions: readonly JsonTransaction[]): readonly SentTransaction[] {
  const nonces = new Map<string, bigint>();
  return transactions.map(({ secretKey, gasLimit, gasPrice, to, value, data }) => {
    const privateKey = bytesOfHex(secretKey);
    const sender = addressOfPrivateKey(privateKey);
    const nonce = nonces.get(toDigits(sender)) ?? chain.world.head.account(sender)?.nonce ?? 0n;
    nonces.set(toDigits(sender), nonce + 1n);
    return aTransaction({
      chainId: undefined,
      nonce,
      gasPrice: BigInt(gasPrice),
      gasLimit: BigInt(gasLimit),
      to: to === undefined ? undefined : addressOf(to),
      value: BigInt(value ?? 0),
      data: bytesOfHex(data ?? "0x"),
      privateKey,
    });
  });
}

/** Pads short addresses with leading zeros. */
function addressOf(text: string): Address {
  return asAddress(bigintToFixedBytes(bytesToBigint(bytesOfHex(text)), 20));
}

function refuse(code: BuildErrorCode, message: string): Result<never, BuildErrorCode> {
  return err({ code, fault: "caller", message });
}

export const NO_SEAL: { readonly mixHash: Hash; readonly nonce: Uint8Array } = {
  mixHash: ZERO_HASH,
  nonce: new Uint8Array(8),
};
