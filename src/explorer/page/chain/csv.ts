import { showAmount } from "../format.ts";
import { call } from "./connection.ts";
import { decimalsOf, type ListPage, type TokenTransfer, tokenInfo } from "./tokens.ts";

/** Most rows of a file: some 8 MB, and hardly more than the visitor's budget at once. */
export const MOST_ROWS = 20_000;
/** Rows asked for at a time. */
const PAGE = 100;
/** Time between two questions while the node has too many. */
const PAUSE_MS = 2_000;
/** Most questions for one file: a page may have no row that passes the filter. */
const MOST_PAGES = 500;

/** What a file lists: a method of the node, the names of the columns, and the row of an entry, its block first. */
export interface CsvList<Item> {
  readonly method: string;
  readonly columns: readonly string[];
  readonly rows: (item: Item) => Promise<readonly string[]> | readonly string[];
}

export interface AccountTransaction {
  readonly blockNumber: string;
  readonly timestamp: string;
  readonly transactionHash: string;
  readonly from: string;
  readonly to: string | null;
  readonly created: string | null;
  readonly value: string;
  readonly selector: string;
  readonly hasFailed: boolean;
  readonly gasUsed: string;
  readonly fee: string;
}

interface AccountLog {
  readonly blockNumber: string;
  readonly timestamp: string;
  readonly transactionHash: string;
  readonly logIndex: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export const TRANSACTIONS_CSV: CsvList<AccountTransaction> = {
  method: "explorer_getTransactionsOf",
  columns: [
    "block",
    "time",
    "transaction",
    "from",
    "to",
    "created",
    "selector",
    "value",
    "fee",
    "gas",
    "failed",
  ],
  rows: (one) => [
    ...placeOf(one),
    one.from,
    one.to ?? "",
    one.created ?? "",
    one.selector,
    coins(one.value),
    coins(one.fee),
    BigInt(one.gasUsed).toString(),
    one.hasFailed ? "yes" : "no",
  ],
};

export const TRANSFERS_CSV: CsvList<TokenTransfer & { readonly blockNumber: string }> = {
  method: "explorer_getTokenTransfers",
  columns: [
    "block",
    "time",
    "transaction",
    "log",
    "token",
    "standard",
    "from",
    "to",
    "id",
    "amount",
    "entries",
  ],
  rows: async (one) => {
    const [first] = one.amounts;
    const decimals = one.standard === "ERC-20" ? decimalsOf(await tokenInfo(one.token)) : 0;
    return [
      ...placeOf(one),
      number(one.logIndex),
      one.token,
      one.standard,
      one.from,
      one.to,
      first?.tokenId == null ? "" : BigInt(first.tokenId).toString(),
      first === undefined ? "" : plain(showAmount(BigInt(first.value), decimals)),
      String(one.amounts.length),
    ];
  },
};

export const LOGS_CSV: CsvList<AccountLog> = {
  method: "explorer_getLogsOf",
  columns: ["block", "time", "transaction", "log", "topic0", "topic1", "topic2", "topic3", "data"],
  rows: (one) => [
    ...placeOf(one),
    number(one.logIndex),
    ...Array.from({ length: 4 }, (_, index) => one.topics[index] ?? ""),
    one.data,
  ],
};

function placeOf(one: Pick<AccountLog, "blockNumber" | "timestamp" | "transactionHash">): readonly string[] {
  return [
    number(one.blockNumber),
    new Date(Number(one.timestamp) * 1_000).toISOString(),
    one.transactionHash,
  ];
}

function number(quantity: string): string {
  return BigInt(quantity).toString();
}

function coins(wei: string): string {
  return plain(showAmount(BigInt(wei), 18));
}

/** A number without the commas of its thousands. */
function plain(shown: string): string {
  return shown.replaceAll(",", "");
}

export interface CsvFile {
  readonly text: string;
  readonly rows: number;
  /** The block of the oldest row where there may be more rows than the file has; null if it has none. */
  readonly cutAt?: string | null;
}

/**
 * The newest rows of an account's list as a file, asked for page by page. `onProgress` hears how many rows there are. A busy
 * node is asked again after a pause. No value is text of a contract's choice, so that no spreadsheet takes one for a formula.
 */
export async function csvOf<Item>(
  { method, columns, rows }: CsvList<Item>,
  [account, filter]: readonly [account: string, filter: object],
  onProgress: (rows: number) => void,
  isWanted: () => boolean,
): Promise<CsvFile> {
  const lines = [columns.join(",")];
  let oldest: string | null = null;
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES && isWanted(); pages++) {
    const page: ListPage<Item> = await patientCall(
      method,
      [account, { size: PAGE, cursor }, filter],
      isWanted,
    );
    for (const item of page.items) {
      if (lines.length > MOST_ROWS) return { ...fileOf(lines), cutAt: oldest };
      const values = await rows(item);
      oldest = values[0] ?? null;
      lines.push(values.map(quoted).join(","));
    }
    onProgress(lines.length - 1);
    cursor = page.next;
    if (cursor === null) return fileOf(lines);
  }
  return { ...fileOf(lines), cutAt: oldest };
}

function fileOf(lines: readonly string[]): CsvFile {
  return { text: `${lines.join("\r\n")}\r\n`, rows: lines.length - 1 };
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Code of an answer that the budget or the queue of the node refused. */
const BUSY = -32005;

async function patientCall<T>(
  method: string,
  params: readonly unknown[],
  isWanted: () => boolean,
): Promise<T> {
  for (;;) {
    try {
      return await call<T>(method, params);
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && error.code === BUSY;
      if (!isBusy || !isWanted()) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
