/** Where a server listens, or a peer is. */
export interface Endpoint {
  /** An IP address or a name. */
  readonly host: string;
  readonly port: number;
}
