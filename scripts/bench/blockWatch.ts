import type { RpcClient } from "./httpClient.ts";

export interface SeenBlock {
  readonly number: number;
  readonly seenAtMs: number;
  readonly transactions: number;
}

/** Polls the head every `periodMs` and reports each new block with its transaction count, until stopped. */
export function watchBlocks(
  client: RpcClient,
  periodMs: number,
  onBlock: (block: SeenBlock) => void,
): { stop(): Promise<void> } {
  let watching = true;

  async function watch(): Promise<void> {
    let last = Number(await client.call<string>("eth_blockNumber"));
    while (watching) {
      const head = Number(await client.call<string>("eth_blockNumber"));
      const seenAtMs = performance.now();
      const numbers = Array.from({ length: head - last }, (_, index) => last + 1 + index);
      if (numbers.length > 0) {
        const counts = await client.batch<string>(
          numbers.map(
            (number) => ["eth_getBlockTransactionCountByNumber", [`0x${number.toString(16)}`]] as const,
          ),
        );
        for (const [index, number] of numbers.entries()) {
          onBlock({ number, seenAtMs, transactions: Number(counts[index] ?? 0) });
        }
        last = head;
      }
      await new Promise((resolve) => setTimeout(resolve, periodMs));
    }
  }

  const done = watch();
  return {
    stop() {
      watching = false;
      return done;
    },
  };
}
