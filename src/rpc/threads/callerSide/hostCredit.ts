import type { HostLimit } from "../../../workers/channel/requestSender.ts";
import { HostShares } from "../../server/hostShares.ts";
import type { SharedHosts } from "../../server/sharedHosts.ts";
import { MESSAGES } from "../messages.ts";

/** What remote hosts have of a kind of message on other threads, and about its bytes. */
interface SharedHostCredit {
  readonly messages: SharedHosts;
  readonly bytes: SharedHosts;
}

/** The limit of messages that are counted by remote host until they are answered; one host can have half of what others leave. */
export class HostCredit implements HostLimit {
  private readonly messages: HostShares;
  private readonly bytes: HostShares;

  constructor(kind: "requests" | "transactions", shared?: SharedHostCredit) {
    const { most } = MESSAGES[kind];
    this.messages = new HostShares(most.messages, shared?.messages);
    this.bytes = new HostShares(most.bytes, shared?.bytes);
  }

  takeMessage(remoteHost: string): boolean {
    return this.messages.take(remoteHost, 1);
  }

  takeBytes(remoteHost: string, bytes: number): boolean {
    if (this.bytes.take(remoteHost, bytes)) return true;
    this.messages.giveBack(remoteHost, 1);
    return false;
  }

  giveBack(remoteHost: string, bytes: number): void {
    this.messages.giveBack(remoteHost, 1);
    this.bytes.giveBack(remoteHost, bytes);
  }
}
