/**
 * The sending process: reads pre-signed bodies from its parent, posts them over a few connections, and reports. It is a
 * separate process so that its CPU does not count as the node's. It pauses while the node has too many unmined ones.
 */
import { performOrder } from "./ownProcess.ts";
import { type SendLimits, type SendReport, sendBodies } from "./sendBodies.ts";

export interface SendOrder extends SendLimits {
  readonly bodies: readonly Buffer[];
}

performOrder((order: SendOrder): Promise<SendReport> => sendBodies(order, order.bodies.values()));
