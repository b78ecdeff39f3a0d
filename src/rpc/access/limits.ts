/** Bounds on what callers can make the node do and keep before they have proven who they are. */

/** Characters of a token; a longer one is refused unread. Node.js refuses more than 16 KB of headers. */
export const LONGEST_TOKEN = 8 * 1024;
/** Valid tokens that a server remembers, so that a signature is checked once; above, the oldest are forgotten. */
export const REMEMBERED_TOKENS = 1000;
/** Tokens of a server that wait for the check of their signature; above, the remote host with most of them is refused. */
export const WAITING_TOKENS = 1000;
/** Bytes of a log-in. */
export const LOGIN_BODY_BYTES = 16 * 1024;
/** How long a token is valid that this node issues, seconds; as in Besu. */
export const TOKEN_SECONDS = 300;
