import { describe, expect, it } from "vitest";
import {
  createNoticeSource,
  NOTICE_CREDIT,
  type Notice,
} from "../../../src/rpc/threads/mainSide/notifications.ts";

describe("notices to a thread", () => {
  it("are sent in their order; while it is held up, the newest takes the place of those that wait", () => {
    const sent: Notice[] = [];
    const source = createNoticeSource((notice) => sent.push(notice));
    const syncing = (currentBlock: bigint): Notice => ({
      kind: "syncing",
      status: { startingBlock: 0n, currentBlock, highestBlock: 2000n },
    });
    for (let number = 0n; number < 1000n; number++) source.tell(syncing(number));
    const first = Array.from({ length: NOTICE_CREDIT }, (_, index) => syncing(BigInt(index)));
    expect(sent).toEqual(first);
    // Other kinds have a line of their own.
    source.tell({ kind: "head" });
    expect(sent.splice(0)).toEqual([...first, { kind: "head" }]);
    source.worked("syncing");
    expect(sent.splice(0)).toEqual([syncing(999n)]);
    for (let count = 0; count < NOTICE_CREDIT; count++) source.worked("syncing");
    expect(sent).toEqual([]);
    source.tell({ kind: "syncing", status: undefined });
    expect(sent).toEqual([{ kind: "syncing", status: undefined }]);
  });
});
