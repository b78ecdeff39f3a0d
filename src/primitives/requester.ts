/** Who is to have the result of a piece of work, as far as those know who let work wait for its turn. */
export interface Requester {
  /** Where it is, such as the address of its machine: all clients there take turns with those elsewhere as one. */
  readonly remoteHost: string;
  /** What it asks through, such as a connection: all askers of one client take turns with the others as one. */
  readonly client: object;
  /** True when nobody waits for the result any more: work that has not begun need not be done. */
  isAbandoned(): boolean;
}
