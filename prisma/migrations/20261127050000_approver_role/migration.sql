-- Between viewer and editor: reads, and decides reviews.
ALTER TYPE "Role" ADD VALUE 'approver' BEFORE 'editor';
