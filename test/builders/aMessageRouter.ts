import { MessageRouter } from "../../src/consensus/router/messageRouter.ts";

type RouterParts = ConstructorParameters<typeof MessageRouter>[0];

/** Parts of a router that a test is not about: nothing is asked or told, and all is read and relayed at once. */
const PLAIN = {
  hasOtherNodeKey: false,
  judgeNotice: () => false,
  messagesBy: () => [],
  findTransaction: () => undefined,
  onAhead: () => undefined,
  signedTimes: { isSampling: false, received: () => undefined },
  penalisePeer: () => undefined,
  later: (relay) => relay(),
  shares: {
    start(job) {
      while (job.step() !== "done");
      return true;
    },
    clear: () => undefined,
  },
} satisfies Partial<RouterParts>;

/** A message router with these parts, and plain ones for the rest. */
export function aMessageRouter(
  parts: Omit<RouterParts, keyof typeof PLAIN> & Partial<RouterParts>,
): MessageRouter {
  return new MessageRouter({ ...PLAIN, ...parts });
}
