import { useEffect, useState } from "preact/hooks";
import { call, connection } from "./connection.ts";

/** A block as the charts and lists show it. */
export interface RecentBlock {
  readonly number: number;
  readonly hash: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly proposer: string;
  readonly round: number;
  /** Number of validators that decided the block. */
  readonly validatorCount: number;
  readonly gasUsed: number;
  readonly gasLimit: number;
  /** Number of transactions; zero when the node has only the header. */
  readonly transactions: number;
  readonly isWhole: boolean;
}

/** A row of ibft_getRounds. */
export interface RoundRow {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly proposer: string;
  readonly round: string;
  readonly validatorCount: string;
  readonly vote: { readonly address: string; readonly kind: "add" | "drop" } | null;
  readonly gasUsed: string;
  readonly gasLimit: string;
}

/** Number of blocks kept, the newest first. */
const KEPT_BLOCKS = 100;
/** Shortest time between two polls of the head: a node that catches up has hundreds a second. */
const PAUSE_MS = 250;
/** Time until the next poll after a failure: a node may refuse, and have no block for long. */
const RETRY_MS = 4_000;

/** The head, and the newest blocks while a page shows them, kept up to date without a reload. */
class RecentBlocks {
  /** Number of the head, known before its block. */
  height: number | undefined;
  blocks: readonly RecentBlock[] = [];
  private readonly heightListeners = new Set<() => void>();
  private readonly blockListeners = new Set<() => void>();
  private isLooking = false;
  private isBehind = false;

  constructor() {
    connection.onHead(() => this.look());
  }

  onHeight(listener: () => void): () => void {
    this.heightListeners.add(listener);
    return () => this.heightListeners.delete(listener);
  }

  /** Adds a listener; blocks are loaded while there is one. */
  onBlocks(listener: () => void): () => void {
    this.blockListeners.add(listener);
    const isBehind = this.height !== undefined && this.blocks[0]?.number !== this.height;
    if (isBehind) this.look();
    return () => this.blockListeners.delete(listener);
  }

  private look(): void {
    this.isBehind = true;
    if (!this.isLooking) void this.follow();
  }

  private async follow(): Promise<void> {
    this.isLooking = true;
    while (this.isBehind) {
      this.isBehind = false;
      let pauseMs = PAUSE_MS;
      try {
        await this.update();
      } catch {
        this.isBehind = true;
        pauseMs = RETRY_MS;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    this.isLooking = false;
  }

  private async update(): Promise<void> {
    const newest = Number(await call<string>("eth_blockNumber"));
    this.height = newest;
    notify(this.heightListeners);
    if (this.blockListeners.size > 0) await this.updateBlocks(newest);
  }

  private async updateBlocks(newest: number): Promise<void> {
    const [known] = this.blocks;
    // A known block shows whether the chain was rewound meanwhile.
    const missing = known === undefined ? KEPT_BLOCKS : newest - known.number + 1;
    const count = missing < 1 || missing > KEPT_BLOCKS ? KEPT_BLOCKS : missing;
    const rows = await loadBlocks(hexOf(newest), count);
    const isSame = known !== undefined && rows.at(-1)?.hash === known.hash;
    const added = isSame ? rows.slice(0, -1) : rows;
    if (isSame && added.length === 0) return;
    this.blocks = [...added, ...(isSame ? this.blocks : [])].slice(0, KEPT_BLOCKS);
    notify(this.blockListeners);
  }
}

function notify(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners) listener();
}

/** Loads `count` blocks up to `newest`, the newest first. */
export async function loadBlocks(newest: string, count: number): Promise<readonly RecentBlock[]> {
  const rows = await call<readonly RoundRow[]>("ibft_getRounds", [newest, hexOf(count)]);
  return Promise.all(rows.map(withTransactions));
}

async function withTransactions(row: RoundRow): Promise<RecentBlock> {
  const count = await call<string | null>("eth_getBlockTransactionCountByNumber", [row.number]);
  return {
    number: Number(row.number),
    hash: row.hash,
    timestamp: Number(row.timestamp),
    proposer: row.proposer,
    round: Number(row.round),
    validatorCount: Number(row.validatorCount),
    gasUsed: Number(row.gasUsed),
    gasLimit: Number(row.gasLimit),
    transactions: Number(count ?? 0),
    isWhole: count !== null,
  };
}

export function hexOf(number: number): string {
  return `0x${number.toString(16)}`;
}

const recent = new RecentBlocks();

/** The newest blocks, the newest first; renders again when there are more. */
export function useRecentBlocks(): readonly RecentBlock[] {
  const [blocks, setBlocks] = useState(recent.blocks);
  useEffect(() => {
    setBlocks(recent.blocks);
    return recent.onBlocks(() => setBlocks(recent.blocks));
  }, []);
  return blocks;
}

/** Number of the newest block; undefined until it is known. */
export function useHeight(): number | undefined {
  const [height, setHeight] = useState(recent.height);
  useEffect(() => {
    setHeight(recent.height);
    return recent.onHeight(() => setHeight(recent.height));
  }, []);
  return height;
}
