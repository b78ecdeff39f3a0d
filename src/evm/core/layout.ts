/*
 * Where things lie in linear memory. src/evm/layout.ts says the same to the driver, and
 * test/evm/layout.test.ts compares the two.
 *
 *     scratch │ environment │ a piece of code │ prepared code │ frame 0: fields, stack, memory │ frame 1 │ …
 */

/** 1 KB for long arithmetic. */
export const SCRATCH: usize = 1024;
/** The state of Keccak, 200 bytes, and its last block from 256 on. */
export const KECCAK: usize = 2048;
/** Words that are the same for all frames of a message. */
export const ENVIRONMENT: usize = 4096;
/** 256 bits: opcodes that the fork lacks. */
export const MISSING: usize = 5120;

/** Stands in the code from where it is not prepared on: an instruction of no fork, 0x0c. */
export const UNPREPARED: u8 = 12;

// The fields of a frame, from its beginning.
/** Address of the next instruction in the prepared code. */
export const NEXT: usize = 0;
/** Address behind the top of the stack. */
export const TOP: usize = 4;
/** Gas left. */
export const GAS: usize = 8;
/**
 * Code as it runs, of which a part is prepared; its length; a bit for each position that is a jump target; and the code as
 * it is, or 0 where only the driver has it. FOUND bytes before the bits is a 1 once the targets are found.
 */
export const CODE: usize = 16;
export const CODE_SIZE: usize = 20;
export const TARGETS: usize = 24;
export const RAW_CODE: usize = 28;
export const FOUND: usize = 4;
/** The stack's first word, and the address behind its last one. */
export const STACK: usize = 32;
export const STACK_END: usize = 36;
export const MEMORY: usize = 40;
/** Bytes of memory that are paid for. */
export const MEMORY_SIZE: usize = 44;
/** Gas paid for memory. */
export const MEMORY_COST: usize = 48;
/** Bytes of memory that are zeroed ahead and counted: how far it may grow without the driver. */
export const ROOM: usize = 56;
/** Bytes of memory that an instruction needs, with GROW. */
export const NEEDED: usize = 60;
export const INPUT: usize = 64;
export const INPUT_SIZE: usize = 68;
/** The data of the last callee. */
export const RETURNED: usize = 72;
export const RETURNED_SIZE: usize = 76;
/** Output of RETURN and REVERT, data of a log, or what long work reads. */
export const OUTPUT: usize = 80;
export const OUTPUT_SIZE: usize = 84;
/** Long work: where it writes, how many bytes it copies, and how many zeros follow them. */
export const TARGET: usize = 88;
export const COPIED: usize = 92;
export const ZEROS: usize = 96;
/** Opcode of the instruction that is left to the driver. */
export const LEFT: usize = 100;
export const IS_STATIC: usize = 104;
/** Gas for each byte of EXP's exponent. */
export const EXPONENT_GAS: usize = 108;
export const ADDRESS: usize = 112;
export const CALLER: usize = 144;
export const VALUE: usize = 176;

// Reasons why `run` returns.
export const STOPPED: i32 = 0;
export const ENDED: i32 = 1;
export const REVERTED: i32 = 2;
/** The driver performs the instruction in LEFT. */
export const LEAVE: i32 = 3;
/** The driver looks at the clock. */
export const REST: i32 = 4;
/** The instruction needs more memory; it is performed again once there is room. */
export const GROW: i32 = 5;
/** The driver performs the instruction's long work in slices. */
export const LONG: i32 = 6;
/** An instruction was performed, in the build that steps. */
export const STEPPED: i32 = 7;
/** The driver finds the jump targets of the code; then the jump is performed again. */
export const FIND_TARGETS: i32 = 8;
/** The driver has the code prepared from the next instruction on. */
export const PREPARE: i32 = 9;
export const OUT_OF_GAS: i32 = 10;
export const UNDERFLOW: i32 = 11;
export const OVERFLOW: i32 = 12;
export const BAD_JUMP: i32 = 13;
export const INVALID: i32 = 14;
export const STATIC_CHANGE: i32 = 15;
export const OUT_OF_BOUNDS: i32 = 16;
/** The instruction needs memory that its gas pays for, but that Besu does not have. */
export const BEYOND: i32 = 17;

/** Bytes of code that are prepared at once, but for the end of their last instruction. */
export const PREPARED_AT_ONCE: u64 = 256;
/** Instructions on more bytes than this are LONG: hashing takes some 3 ms, copying a tenth of that. */
export const LONG_BYTES: u64 = 1048576;
