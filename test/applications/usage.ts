import type { Log, TransactionReceipt } from "viem";

/** What the applications did on a chain: gas by function, and all events, to be compared with what the chain tells later. */
export interface Usage {
  add(label: string, receipt: TransactionReceipt): void;
  logs(): readonly Log[];
  /** Gas by function, as lines of a table in alphabetical order. */
  gasLines(): readonly string[];
}

export function createUsage(): Usage {
  const gasOf = new Map<string, number[]>();
  const logs: Log[] = [];
  return {
    add(label, receipt) {
      gasOf.set(label, [...(gasOf.get(label) ?? []), Number(receipt.gasUsed)]);
      logs.push(...receipt.logs);
    },
    logs: () => logs,
    gasLines() {
      const rows = [...gasOf].sort(([a], [b]) => (a < b ? -1 : 1));
      return [
        ["function", "least gas", "most gas", "times"],
        ...rows.map(([label, gas]) => [label, `${Math.min(...gas)}`, `${Math.max(...gas)}`, `${gas.length}`]),
      ].map(
        ([label = "", ...figures]) =>
          label.padEnd(32) + figures.map((figure) => figure.padStart(12)).join(""),
      );
    },
  };
}
