import type { CheckedHeader } from "../../../src/chain/bulk/headerRun.ts";
import { ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import type { Clock } from "../../../src/primitives/clock.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes, toDigits } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import { type CodedError, err, ok, type Result } from "../../../src/primitives/result.ts";
import type { Signature } from "../../../src/primitives/secp256k1.ts";
import type { BulkImport, SyncChain } from "../../../src/sync/ports.ts";
import type { Block, Body, NamedHeader } from "../../../src/types/block.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { EMPTY_BLOOM } from "../../../src/types/bloom.ts";
import { encodeExtraData } from "../../../src/types/extraData.ts";
import type { Header } from "../../../src/types/header.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { memoryOfBlock } from "../../../src/types/memory.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import type { Random } from "../../simulation/random.ts";

/** A block of the chain that a simulation agrees on. */
export interface SimulatedBlock extends NamedHeader {
  readonly body: Body;
}

/** Seals of a toy. */
const VALID_SEAL: Signature = { r: 1n, s: 1n, yParity: 0 };
const INVALID_SEAL: Signature = { r: 2n, s: 2n, yParity: 0 };

/** A chain of so many blocks after genesis, a third of them empty; its bodies are larger or smaller than their gas tells. */
export function simulatedBlocks(count: number, random: Random): readonly SimulatedBlock[] {
  const blocks: SimulatedBlock[] = [];
  for (let number = 0; number <= count; number++) {
    const transactions = number === 0 || random.chance(0.33) ? [] : transactionsOf(number, random);
    blocks.push(blockAfter(blocks.at(-1), { transactions, ommers: [] }, random));
  }
  return blocks;
}

/** Another branch of the chain: the same blocks below `from`, and others from there on, of which none is sealed. */
export function branchOf(
  blocks: readonly SimulatedBlock[],
  from: number,
  random: Random,
): readonly SimulatedBlock[] {
  const branch = blocks.slice(0, from);
  for (const { body } of blocks.slice(from)) {
    const block = blockAfter(branch.at(-1), body, random);
    branch.push({ ...block, header: withInvalidSeal(block.header) });
  }
  return branch;
}

/** The seals are no part of the hash. */
export function withInvalidSeal(header: Header): Header {
  return { ...header, extraData: extraDataOf(INVALID_SEAL) };
}

function extraDataOf(seal: Signature): Uint8Array {
  const validators = [ZERO_ADDRESS];
  return encodeExtraData({ vanity: new Uint8Array(32), validators, round: 0, seals: [seal] });
}

function transactionsOf(number: number, random: Random): Body["transactions"] {
  return Array.from({ length: random.between(1, 3) }, (_, index) =>
    aTransaction({ nonce: BigInt(number * 10 + index), data: new Uint8Array(random.between(0, 8_000)) }),
  );
}

function blockAfter(parent: SimulatedBlock | undefined, body: Body, random: Random): SimulatedBlock {
  const { transactions } = body;
  const header: Header = {
    parentHash: parent?.hash ?? keccak256(new Uint8Array()),
    ommersHash: EMPTY_LIST_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: keccak256(bigintToBytes(BigInt(random.between(0, 2 ** 31)))),
    transactionsRoot:
      transactions.length === 0 ? EMPTY_TRIE_ROOT : (rootOfList(transactions.map(({ raw }) => raw)) as Hash),
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: 1n,
    number: parent === undefined ? 0n : parent.header.number + 1n,
    gasLimit: 30_000_000n,
    gasUsed: gasTelling(transactions, random),
    timestamp: 0n,
    extraData: extraDataOf(VALID_SEAL),
    mixHash: keccak256(new Uint8Array()),
    nonce: new Uint8Array(8),
  };
  const hash = hashOfHeader(header);
  if (!hash.ok) throw new Error(hash.error.message);
  return { header, hash: hash.value, totalDifficulty: header.number + 1n, body };
}

/** Gas from which the memory of these transactions would be estimated, half as much or half more. */
function gasTelling(transactions: Body["transactions"], random: Random): bigint {
  const bytes = transactions.reduce((sum, { raw }) => sum + 1024 + raw.length, 0);
  return BigInt(Math.round(16 * bytes * (0.5 + random.next())));
}

/** What a simulation knows of the local chain. */
export interface LocalChain extends SyncChain {
  /** Number of the newest durable block: what a killed node finds again. */
  readonly durable: number;
  /** Memory of the bodies that were accepted and are not imported yet. */
  readonly waitingBytes: number;
  readonly waitingBlocks: number;
  /** When the open bulk import last had something to do; undefined while none is open. */
  readonly idleSinceMs: number | undefined;
  /** Consensus takes the next turn to move the head; tells how long it had to wait. */
  takeTurn(onTurn: (waitedMs: number) => void): void;
  /** Nothing that was begun ends any more. */
  kill(): void;
}

export interface LocalChainParts {
  readonly blocks: readonly SimulatedBlock[];
  readonly head: number;
  readonly clock: Clock;
  /** Time that the import of a block takes. */
  readonly importMs: number;
  /** Blocks that become durable together. */
  readonly group: number;
  readonly onHeadChanged: () => void;
}

/** A chain that accepts only the agreed blocks, with a valid seal each. */
export function createLocalChain(parts: LocalChainParts): LocalChain {
  return new SimulatedChain(parts);
}

class SimulatedChain implements LocalChain {
  readonly #parts: LocalChainParts;
  readonly #known: ReadonlyMap<string, SimulatedBlock>;
  durable: number;
  waitingBytes = 0;
  waitingBlocks = 0;
  idleSinceMs: number | undefined;
  #isKilled = false;
  #isHeld = false;
  readonly #turns: (() => void)[] = [];

  constructor(parts: LocalChainParts) {
    this.#parts = parts;
    this.durable = parts.head;
    this.#known = new Map(parts.blocks.map((block) => [toDigits(block.hash), block]));
  }

  get head(): NamedHeader {
    return this.#at(this.durable);
  }

  headerByHash(hash: Hash): NamedHeader | undefined {
    const block = this.#known.get(toDigits(hash));
    return block !== undefined && block.header.number <= BigInt(this.durable) ? block : undefined;
  }

  async checkNextHeader(header: Header): Promise<Result<unknown>> {
    const error = this.#errorOf(header, this.head);
    return error === undefined ? ok(undefined) : err(error);
  }

  async importBlock(block: Block): Promise<Result<NamedHeader>> {
    await this.#turn();
    try {
      const error = this.#errorOf(block.header, this.head);
      if (error !== undefined) return err(error);
      await this.#after(this.#parts.importMs);
      this.durable = Number(block.header.number);
      return ok(this.head);
    } finally {
      this.#endTurn();
      this.#parts.onHeadChanged();
    }
  }

  headerRun(from: NamedHeader) {
    this.waitingBytes = 0;
    this.waitingBlocks = 0;
    const chain = this;
    let last = from;
    return {
      get last() {
        return last;
      },
      async extend(headers: readonly Header[]) {
        const checked: CheckedHeader[] = [];
        await chain.#after(1);
        for (const header of headers) {
          const error = chain.#errorOf(header, last);
          if (error !== undefined) return { checked, error };
          last = chain.#at(Number(header.number));
          checked.push({ ...last, header } as CheckedHeader);
        }
        return { checked };
      },
    };
  }

  prepareBlock(block: { readonly header: CheckedHeader; readonly body: Body }) {
    this.waitingBytes += bytesOf(block);
    if (block.body.transactions.length > 0) this.waitingBlocks++;
    return block;
  }

  async bulkImport(): Promise<BulkImport> {
    await this.#turn();
    const chain = this;
    const { group, importMs, clock } = this.#parts;
    let tip = this.durable;
    this.idleSinceMs = clock.nowMs();
    const flush = async (): Promise<void> => {
      if (chain.durable === tip) return;
      const upTo = tip;
      await chain.#after(2);
      chain.durable = upTo;
      chain.#parts.onHeadChanged();
    };
    return {
      get tip() {
        return chain.#at(tip);
      },
      get isOthersTurn() {
        return chain.#turns.length > 0;
      },
      async importBlock(block) {
        chain.idleSinceMs = undefined;
        const { header } = block.header;
        const error = chain.#errorOf(header, chain.#at(tip));
        if (error !== undefined) throw new Error(`import of a wrong block: ${error.code}`);
        await chain.#after(importMs);
        chain.waitingBytes -= bytesOf(block);
        if (block.body.transactions.length > 0) chain.waitingBlocks--;
        tip++;
        if (tip - chain.durable >= group) await flush();
        chain.idleSinceMs = clock.nowMs();
        return ok(chain.#at(tip));
      },
      async close() {
        chain.idleSinceMs = undefined;
        await flush();
        chain.#endTurn();
      },
    };
  }

  takeTurn(onTurn: (waitedMs: number) => void): void {
    const { clock } = this.#parts;
    const sinceMs = clock.nowMs();
    void this.#turn().then(async () => {
      onTurn(clock.nowMs() - sinceMs);
      await this.#after(5);
      this.#endTurn();
    });
  }

  kill(): void {
    this.#isKilled = true;
    this.idleSinceMs = undefined;
  }

  #at(number: number): SimulatedBlock {
    return expectDefined(this.#parts.blocks[number], `block ${number}`);
  }

  #errorOf(header: Header, last: NamedHeader): CodedError | undefined {
    const refuse = (code: string): CodedError => ({ code, fault: "peer", message: code });
    if (header.number !== last.header.number + 1n) return refuse("wrongNumber");
    if (!equalBytes(header.parentHash, last.hash)) return refuse("wrongParent");
    const agreed = this.#parts.blocks[Number(header.number)];
    const isAgreed =
      agreed !== undefined &&
      equalBytes(header.stateRoot, agreed.header.stateRoot) &&
      equalBytes(header.transactionsRoot, agreed.header.transactionsRoot) &&
      equalBytes(header.extraData, agreed.header.extraData);
    return isAgreed ? undefined : refuse("sealerNotValidator");
  }

  async #turn(): Promise<void> {
    if (this.#isKilled) return new Promise(() => undefined);
    if (this.#isHeld) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#isHeld = true;
  }

  #endTurn(): void {
    const next = this.#turns.shift();
    this.#isHeld = next !== undefined;
    next?.();
  }

  /** Never settles once the node was killed. */
  async #after(ms: number): Promise<void> {
    const { clock } = this.#parts;
    if (ms > 0) await new Promise<void>((resolve) => clock.at(clock.nowMs() + ms, resolve));
    if (this.#isKilled) await new Promise(() => undefined);
  }
}

function bytesOf({ header, body }: { readonly header: NamedHeader; readonly body: Body }): number {
  if (body.transactions.length === 0) return 0;
  return memoryOfBlock({ header: header.header, ...body });
}
