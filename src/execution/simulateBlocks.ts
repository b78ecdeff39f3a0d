import { parametersAt } from "../chainspec/ibftParameters.ts";
import { ZERO_ADDRESS } from "../primitives/address.ts";
import { EMPTY_LIST_HASH, type Hash, keccak256, ZERO_HASH } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { createOverlay, type Overlay } from "../state/overlay.ts";
import type { NamedBlock } from "../types/block.ts";
import { encodeHeader, type Header } from "../types/header.ts";
import { rootOfList } from "../types/listRoot.ts";
import type { Log } from "../types/log.ts";
import { encodeReceipt, type Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { nextBaseFee } from "./baseFee.ts";
import { BlockReceipts } from "./blockReceipts.ts";
import { overrideAccounts } from "./overrides.ts";
import { type SimulationScene, simulateOn } from "./simulate.ts";
import { transactionOfCall } from "./simulatedTransaction.ts";
import type { AccountOverride, BlockOverride, CallRequest, SimulationRefusal } from "./simulation.ts";
import type { TransactionResult } from "./transactionResult.ts";
import { TransferWatch } from "./transferLogs.ts";

/** Blocks that never were, one on top of the other, with calls in them (execution-apis, eth_simulateV1). */
export interface BlocksOrder {
  readonly blocks: readonly BlockOrder[];
  /** Show transfers of the chain's own coin as logs. */
  readonly showsTransfers: boolean;
  /** Nonces, balances and base fees as for a real transaction; else everything is free, as in eth_call. */
  readonly isStrict: boolean;
}

export interface BlockOrder {
  readonly block: BlockOverride;
  readonly accounts: readonly AccountOverride[];
  readonly calls: readonly { readonly call: CallRequest; readonly nonce: bigint | undefined }[];
}

export interface SimulatedBlock extends NamedBlock<SentTransaction> {
  readonly receipts: readonly Receipt[];
  readonly calls: readonly SimulatedCall[];
}

export interface SimulatedCall {
  readonly outcome: TransactionResult["outcome"];
  readonly output: Uint8Array;
  readonly gasUsed: bigint;
  readonly logs: readonly Log[];
}

export type BlocksRefusal =
  | SimulationRefusal
  | "tooManyBlocks"
  | "numberNotRising"
  | "timestampNotRising"
  | "nonceTooLow"
  | "nonceTooHigh"
  | "blockGasLimitReached";

export type BlocksAnswer =
  | { readonly kind: "blocks"; readonly blocks: readonly SimulatedBlock[] }
  | { readonly kind: "blocksRefused"; readonly code: BlocksRefusal; readonly detail: string };

/** Blocks of one simulation, those in the gaps between named numbers included. */
const MOST_BLOCKS = 256n;

class Refused extends Error {
  readonly code: BlocksRefusal;

  constructor(code: BlocksRefusal, detail: string) {
    super(detail);
    this.code = code;
  }
}

/**
 * Simulates blocks on top of the scene's. What the standard leaves to the chain is as ours has it: the time between blocks
 * is the block period, nobody is rewarded. A state root is not derived: it is zero, and so a block's hash is only a name.
 */
export async function simulateBlocks(scene: SimulationScene, order: BlocksOrder): Promise<BlocksAnswer> {
  try {
    return { kind: "blocks", blocks: await new BlockSimulation(scene, order).run() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: "blocksRefused", code: error.code, detail: error.message };
  }
}

class BlockSimulation {
  private readonly scene: SimulationScene;
  private readonly order: BlocksOrder;
  private readonly overlay: Overlay;
  private readonly made: SimulatedBlock[] = [];
  private readonly hashes = new Map<bigint, Hash>();
  private parent: Header;

  constructor(scene: SimulationScene, order: BlocksOrder) {
    this.scene = scene;
    this.order = order;
    this.overlay = createOverlay(scene.state);
    this.parent = scene.header;
  }

  async run(): Promise<readonly SimulatedBlock[]> {
    const { header } = this.scene;
    for (const each of this.order.blocks) {
      const number = each.block.number ?? this.parent.number + 1n;
      if (number <= this.parent.number)
        throw new Refused("numberNotRising", `block number ${number} after ${this.parent.number}`);
      if (number - header.number > MOST_BLOCKS)
        throw new Refused("tooManyBlocks", `more than ${MOST_BLOCKS}`);
      while (this.parent.number + 1n < number) await this.makeBlock({ block: {}, accounts: [], calls: [] });
      await this.makeBlock(each);
    }
    return this.made;
  }

  private async makeBlock(order: BlockOrder): Promise<void> {
    const draft = this.draft(order.block);
    overrideAccounts(this.overlay, order.accounts);
    const receipts = new BlockReceipts({});
    const transactions: SentTransaction[] = [];
    const calls: SimulatedCall[] = [];
    for (const { call, nonce } of order.calls) {
      const gasLeft = draft.gasLimit - receipts.gasUsed;
      const { transaction, result } = await this.perform(draft, order.block, { call, nonce, gasLeft });
      receipts.add(transaction.type, result);
      transactions.push(transaction);
      calls.push(result);
    }
    const header: Header = {
      ...draft,
      gasUsed: receipts.gasUsed,
      logsBloom: receipts.logsBloom,
      transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)),
      receiptsRoot: rootOfList(receipts.receipts.map(encodeReceipt)),
    };
    const hash = keccak256(encodeHeader(header));
    this.hashes.set(header.number, hash);
    this.made.push({ header, hash, transactions, ommers: [], receipts: receipts.receipts, calls });
    this.parent = header;
  }

  private async perform(
    header: Header,
    block: BlockOverride,
    asked: { readonly call: CallRequest; readonly nonce: bigint | undefined; readonly gasLeft: bigint },
  ): Promise<{ readonly transaction: SentTransaction; readonly result: TransactionResult }> {
    const { call, nonce, gasLeft } = asked;
    const { spec } = this.scene;
    const { isStrict, showsTransfers } = this.order;
    const current = this.overlay.account(call.from ?? ZERO_ADDRESS)?.nonce ?? 0n;
    if (isStrict && nonce !== undefined && nonce !== current)
      throw new Refused(
        nonce < current ? "nonceTooLow" : "nonceTooHigh",
        `nonce ${nonce}, next is ${current}`,
      );
    const gasLimit = call.gasLimit ?? gasLeft;
    if (gasLimit > gasLeft)
      throw new Refused("blockGasLimitReached", `gas ${gasLimit}, but the block has ${gasLeft} left`);
    const watch = showsTransfers ? new TransferWatch() : undefined;
    const scene: SimulationScene = {
      ...this.scene,
      header,
      ancestorHash: (number) => this.hashes.get(number) ?? this.scene.ancestorHash(number),
      blockTerms: {
        beneficiary: header.coinbase,
        ...(block.blobBaseFee !== undefined && { blobBaseFee: block.blobBaseFee }),
      },
    };
    const simulated = await simulateOn(this.overlay, scene, call, {
      gasLimit,
      enforcesBalance: isStrict,
      ...(watch && { observer: watch }),
    });
    if (simulated.kind === "refused") throw new Refused(simulated.code, simulated.detail);
    const transaction = transactionOfCall(call, { nonce: current, gasLimit, chainId: spec.chainId, header });
    const { result } = simulated;
    if (watch === undefined || result.outcome.kind !== "succeeded") return { transaction, result };
    const own = { from: transaction.sender, to: call.to ?? ZERO_ADDRESS, value: call.value ?? 0n };
    return { transaction, result: { ...result, logs: watch.logsWith(result.logs, own) } };
  }

  /** All of a header that does not follow from what is in the block. */
  private draft(override: BlockOverride): Header {
    const { parent } = this;
    const { spec, header: base } = this.scene;
    const number = override.number ?? parent.number + 1n;
    const period = BigInt(parametersAt(spec.ibft, number).blockPeriodSeconds);
    const timestamp = override.timestamp ?? parent.timestamp + period;
    if (timestamp <= parent.timestamp)
      throw new Refused("timestampNotRising", `timestamp ${timestamp} after ${parent.timestamp}`);
    const dueFee = nextBaseFee(spec, parent, timestamp);
    const baseFeePerGas = override.baseFeePerGas ?? (this.order.isStrict ? dueFee : 0n);
    return {
      parentHash: this.made.at(-1)?.hash ?? this.scene.ancestorHash(base.number) ?? ZERO_HASH,
      ommersHash: EMPTY_LIST_HASH,
      coinbase: override.beneficiary ?? ZERO_ADDRESS,
      stateRoot: ZERO_HASH,
      transactionsRoot: ZERO_HASH,
      receiptsRoot: ZERO_HASH,
      logsBloom: EMPTY_BYTES,
      difficulty: override.difficulty ?? base.difficulty,
      number,
      gasLimit: override.gasLimit ?? base.gasLimit,
      gasUsed: 0n,
      timestamp,
      extraData: EMPTY_BYTES,
      mixHash: override.mixHash ?? ZERO_HASH,
      nonce: new Uint8Array(8),
      ...(dueFee !== undefined && baseFeePerGas !== undefined && { baseFeePerGas }),
    };
  }
}
