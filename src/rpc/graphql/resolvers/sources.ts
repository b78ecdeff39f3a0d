import type { LocatedTransaction } from "../../../chain/chainReader.ts";
import { readReceipts } from "../../../chain/readReceipts.ts";
import { type Address, asAddress } from "../../../primitives/address.ts";
import { asHash } from "../../../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, hexToBytes } from "../../../primitives/hex.ts";
import type { StateReader } from "../../../state/stateReader.ts";
import type { Account } from "../../../types/account.ts";
import {
  type NamedHeader,
  type StoredBlock,
  transactionAt,
  transactionCountOf,
} from "../../../types/block.ts";
import type { Log } from "../../../types/log.ts";
import type { Receipt } from "../../../types/receipt.ts";
import type { SentTransaction } from "../../../types/transaction.ts";
import { ERRORS } from "../../errors/errors.ts";
import type { RpcBackend } from "../../ports.ts";
import { FieldError, rpcError } from "../graphQlError.ts";

/** The objects of the schema, as far as more than their parent has to be known. */

type Chain = RpcBackend["chain"];

/** A block of the chain. What goes beyond the header is read on request, the receipts once for all transactions. */
export class BlockSource {
  readonly named: NamedHeader;
  private readonly chain: Chain;
  private block: StoredBlock | undefined;
  private logsBefore: readonly number[] | undefined;

  constructor(chain: Chain, named: NamedHeader, block?: StoredBlock) {
    this.chain = chain;
    this.named = named;
    this.block = block;
  }

  get number(): bigint {
    return this.named.header.number;
  }

  /** Throws a FieldError when the block is no longer stored. */
  get stored(): StoredBlock {
    if (this.block === undefined) {
      const found = this.chain.blockByNumber(this.number);
      if (found === undefined || !equalBytes(found.hash, this.named.hash))
        throw rpcError(ERRORS.historyNotStored);
      this.block = found;
    }
    return this.block;
  }

  get transactionCount(): number {
    return transactionCountOf(this.stored);
  }

  /** All transactions, each when it is asked for. */
  *transactions(): Generator<TransactionSource, void> {
    let index = 0;
    for (const transaction of this.stored.transactions)
      yield new TransactionSource(transaction, { block: this, index: index++ });
  }

  transactionAt(index: bigint): TransactionSource | undefined {
    if (index < 0n) throw new FieldError("Argument 'index' must not be negative");
    if (index >= BigInt(this.transactionCount)) return undefined;
    const transaction = transactionAt(this.stored, Number(index));
    return transaction && new TransactionSource(transaction, { block: this, index: Number(index) });
  }

  /** The receipt of a transaction of the block, read with those of the others. */
  receipt(index: number): Receipt | Promise<Receipt> {
    const block = this.stored;
    if (this.logsBefore !== undefined) return receiptAt(block, index);
    if (block.receiptsInSteps === undefined) {
      this.countLogs(block);
      return receiptAt(block, index);
    }
    return readReceipts(this.chain, block).then((isStored) => {
      if (!isStored) throw rpcError(ERRORS.historyNotStored);
      this.countLogs(block);
      return receiptAt(block, index);
    });
  }

  private countLogs({ receipts }: StoredBlock): void {
    let logs = 0;
    this.logsBefore = receipts.map((receipt) => {
      const before = logs;
      logs += receipt.logs.length;
      return before;
    });
  }

  /** Number of logs of earlier transactions, once the receipts are read. */
  logsBeforeReceipt(index: number): number {
    return this.logsBefore?.[index] ?? 0;
  }
}

function receiptAt({ receipts }: StoredBlock, index: number): Receipt {
  const receipt = receipts[index];
  if (receipt === undefined) throw rpcError(ERRORS.historyNotStored);
  return receipt;
}

/** A transaction of the pool, or one of a block at its place. */
export class TransactionSource {
  readonly transaction: SentTransaction;
  readonly place: Place | undefined;

  constructor(transaction: SentTransaction, place?: Place) {
    this.transaction = transaction;
    this.place = place;
  }

  /** The receipt of a mined transaction. */
  receipt(): Receipt | Promise<Receipt> | undefined {
    return this.place?.found?.receipt ?? this.place?.block.receipt(this.place.index);
  }

  /** Number of logs of earlier transactions of the block, once the receipt is read. */
  get firstLogIndex(): number {
    const { place } = this;
    return place?.found?.firstLogIndex ?? place?.block.logsBeforeReceipt(place.index) ?? 0;
  }
}

interface Place {
  readonly block: BlockSource;
  readonly index: number;
  /** What reads the receipt of one that was looked up, without those of others. */
  readonly found?: Pick<LocatedTransaction, "receipt" | "firstLogIndex">;
}

export function locatedSource(chain: Chain, found: LocatedTransaction): TransactionSource {
  const { transaction, block, index } = found;
  const { header, hash, totalDifficulty } = block;
  const source = new BlockSource(chain, { header, hash, totalDifficulty }, block);
  return new TransactionSource(transaction, { block: source, index, found });
}

/** A log: as it is in a receipt, or as a search gives it, in hexadecimal. */
export interface LogSource {
  readonly index: number | string;
  readonly address: Address;
  readonly topics: readonly (Uint8Array | string)[];
  readonly data: Uint8Array | string;
  readonly blockNumber: bigint;
  /** Undefined when its block was removed. */
  transaction(): TransactionSource | undefined;
}

/** The logs of a transaction whose receipt is read. */
export function* receiptLogs(transaction: TransactionSource, { logs }: Receipt): Generator<LogSource, void> {
  let index = transaction.firstLogIndex;
  for (const log of logs) yield new ReceiptLog(transaction, log, index++);
}

class ReceiptLog implements LogSource {
  readonly index: number;
  private readonly source: TransactionSource;
  private readonly log: Log;

  constructor(source: TransactionSource, log: Log, index: number) {
    this.source = source;
    this.log = log;
    this.index = index;
  }

  get address(): Address {
    return this.log.address;
  }

  get topics(): Log["topics"] {
    return this.log.topics;
  }

  get data(): Uint8Array {
    return this.log.data;
  }

  get blockNumber(): bigint {
    return this.source.place?.block.number ?? 0n;
  }

  transaction(): TransactionSource {
    return this.source;
  }
}

/** A log as JSON-RPC shows it. */
export interface FoundLog {
  readonly logIndex: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** The logs of a search, in its order: neighbours of one transaction have the same object for it. */
export class LogsOfSearch {
  private readonly chain: Chain;
  private hash = "";
  private source: TransactionSource | undefined;

  constructor(chain: Chain) {
    this.chain = chain;
  }

  log({ logIndex, address, topics, data, blockNumber, transactionHash }: FoundLog): LogSource {
    return {
      index: logIndex,
      address: asAddress(hexToBytes(address)),
      topics,
      data,
      blockNumber: BigInt(blockNumber),
      transaction: () => this.transaction(transactionHash),
    };
  }

  private transaction(hash: string): TransactionSource | undefined {
    if (hash === this.hash) return this.source;
    const located = this.chain.transactionByHash(asHash(hexToBytes(hash)));
    this.source = located && locatedSource(this.chain, located);
    this.hash = hash;
    return this.source;
  }
}

/** An account after a block. Its state is asked for anew by each read: the head may move between two of them. */
export class AccountSource {
  readonly address: Address;
  private readonly chain: Chain;
  private readonly number: bigint;
  private known: Account | "absent" | undefined;

  constructor(chain: Chain, address: Address, number: bigint) {
    if (number < 0n) throw new FieldError("Argument must be positive");
    this.chain = chain;
    this.address = address;
    this.number = number;
  }

  /** Undefined for an account that does not exist. */
  get account(): Account | undefined {
    this.known ??= this.state?.account(this.address) ?? "absent";
    return this.known === "absent" ? undefined : this.known;
  }

  get code(): Uint8Array {
    const { account } = this;
    return account === undefined ? EMPTY_BYTES : (this.state?.code(account.codeHash) ?? EMPTY_BYTES);
  }

  storage(slot: Uint8Array): Uint8Array {
    return this.account === undefined
      ? EMPTY_BYTES
      : (this.state?.storage(this.address, slot) ?? EMPTY_BYTES);
  }

  /** A block that the chain does not have has no accounts, as in Besu. A state that is removed is an error. */
  private get state(): StateReader | undefined {
    const { chain, number } = this;
    const state = chain.stateAt(number);
    if (state === undefined && chain.headerByNumber(number) !== undefined)
      throw rpcError(ERRORS.worldStateUnavailable);
    return state;
  }
}
