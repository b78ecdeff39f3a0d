/** Identifies the source of a request, for queues that share time fairly between requesters. */
export interface Requester {
  /** The remote host, such as its IP address: all clients of one host share one turn among the hosts. */
  readonly remoteHost: string;
  /** The client, such as a connection: all requests of one client share one turn among the clients of its host. */
  readonly client: object;
  /** True when the result is no longer needed: work that has not begun can be skipped. */
  isAbandoned(): boolean;
}
