/** Limits of the verification of contracts, whose input comes from anybody. */

/** Most bytes of a request. */
export const REQUEST_BYTES = 4 * 1024 * 1024;
/** Most fields of a form; tools send about twelve. */
export const MOST_FIELDS = 64;
/** Most sources of one contract, and most characters of the name of one. */
export const MOST_SOURCES = 500;
export const LONGEST_SOURCE_NAME = 256;
/** Limits of a compilation, after which its process is killed: in a processor's time, and at the lowest priority on a busy machine. */
export const COMPILE_CPU_MS = 60_000;
export const COMPILE_MS = 180_000;
/** Memory of the compiler itself, in pages of 64 KB, and of the JavaScript around it. */
export const COMPILER_PAGES = 8_192;
export const HEAP_MB = 384;
/** Most bytes of what a compilation answers. */
export const ANSWER_BYTES = 8 * 1024 * 1024;
/** Most compilations that wait, and those of one host, the running one included. */
export const MOST_WAITING = 8;
export const MOST_OF_HOST = 2;
/** Number of outcomes remembered for who asks by their ids. */
export const REMEMBERED_OUTCOMES = 1_000;
/** Most characters of a contract that is kept, which is its ABI above all. */
export const ABI_LENGTH = 512 * 1024;
/** Most contracts kept, and most bytes of all of them. */
export const MOST_CONTRACTS = 20_000;
export const CONTRACTS_BYTES = 1024 * 1024 * 1024;
/** Requests to verify that are read at once, and those of one host. */
export const MOST_READ = 8;
export const MOST_READ_OF_HOST = 2;
/** Longest that the answer waits for an outcome: forge, told that there is none yet, would ask again in 15 s. */
export const OUTCOME_WAIT_MS = 10_000;
/** Units that a request to verify takes from the visitor's budget. */
export const VERIFY_COST = 300;
/** Units that another request takes, and the bytes of sources for which it takes one more. */
export const READ_COST = 5;
export const BYTES_OF_UNIT = 16 * 1024;
