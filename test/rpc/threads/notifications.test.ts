import { describe, expect, it } from "vitest";
import { Notifications } from "../../../src/rpc/threads/mainSide/notifications.ts";
import { MESSAGES } from "../../../src/rpc/threads/messages.ts";
import { aChannel } from "../../builders/aChannel.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";

const MOST = MESSAGES.syncing.most.messages;

describe("notifications of a thread", () => {
  it("are sent in their order; while it is held up, the newest takes the place of those that wait", async () => {
    const timeouts = takeTimeouts();
    const { main, toThread, creditOf } = aChannel();
    const notifications = new Notifications(main);
    const sent = () => toThread.splice(0).map(({ kind, content }) => [kind, content]);
    const status = (currentBlock: bigint) => ({ startingBlock: 0n, currentBlock, highestBlock: 2000n });
    for (let number = 0n; number < 1000n; number++) notifications.tell("syncing", status(number));
    const first = Array.from({ length: MOST }, (_, index) => ["syncing", status(BigInt(index))]);
    await timeouts.advanceBy(1000);
    expect(sent()).toEqual(first);
    // Other kinds have a limit of their own.
    notifications.tell("head", undefined);
    expect(sent()).toEqual([["head", undefined]]);
    creditOf("syncing").giveBack(1);
    await timeouts.advanceBy(10);
    expect(sent()).toEqual([["syncing", status(999n)]]);
    creditOf("syncing").giveBack(MOST);
    await timeouts.advanceBy(1000);
    expect(sent()).toEqual([]);
    notifications.tell("syncing", undefined);
    expect(sent()).toEqual([["syncing", undefined]]);
  });

  it("of a thread that ended do not come to the one that takes its place", async () => {
    const timeouts = takeTimeouts();
    const { main, toThread, creditOf } = aChannel();
    const notifications = new Notifications(main);
    for (let count = 0; count <= MOST; count++) notifications.tell("head", undefined);
    main.drop();
    creditOf("head").giveBack(MOST);
    await timeouts.advanceBy(1000);
    expect(toThread.length).toBe(MOST);
  });
});
