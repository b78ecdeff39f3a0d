import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { explorerGetArrivals } from "../../../src/rpc/methods/explorer/getArrivals.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { requesterFor } from "../requester.ts";

const HASH = new Uint8Array(32).fill(7) as ReturnType<typeof aStoredBlock>["hash"];

describe("explorer_getArrivals", () => {
  const chain = chainOf([0, 1, 2, 3].map((number) => aStoredBlock({ number })));
  const arrivals = {
    at: (number: bigint) =>
      number < 2n ? undefined : { number, hash: HASH, atMs: 1_700_000_000_000 + Number(number) },
  };
  const ask = requesterFor([explorerGetArrivals], { chain, node: aCore({ arrivals }).node });

  it("tells when the node had the blocks that it knows of, the newest first", async () => {
    expect(await ask("explorer_getArrivals", "latest", "0x3")).toEqual([
      { number: "0x3", hash: toHex(HASH), atMs: "0x18bcfe56803" },
      { number: "0x2", hash: toHex(HASH), atMs: "0x18bcfe56802" },
    ]);
  });

  it("looks at a thousand blocks at most", async () => {
    expect(await ask("explorer_getArrivals", "latest", "0x3e9")).toMatchObject({ code: -32005 });
  });
});
