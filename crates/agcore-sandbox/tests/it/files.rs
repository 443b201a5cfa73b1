//! Attempts to read and change files outside.
#![expect(unsafe_code, reason = "attempts are system calls")]

use std::{
    ffi::CString,
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::{
            ffi::OsStrExt,
            fs::{OpenOptionsExt, PermissionsExt, symlink},
        },
    },
    path::Path,
};

use crate::attempt::{Attempt, Place, never, real, with_namespaces};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    real("create", |at| fs::write(at.outside.join("new"), "x")),
    real("append", |at| append(&at.outside.join("victim"))),
    real("overwrite", |at| fs::write(at.outside.join("victim"), "x")),
    real("truncate", |at| {
        check(unsafe { libc::truncate(c(&at.outside.join("victim")).as_ptr(), 0) })
    }),
    real("open to read and truncate", |at| {
        let flags = libc::O_RDONLY | libc::O_TRUNC;
        check(unsafe { libc::open(c(&at.outside.join("victim")).as_ptr(), flags) })
    }),
    real("unlink", |at| fs::remove_file(at.outside.join("victim"))),
    real("mkdir", |at| fs::create_dir(at.outside.join("new"))),
    real("rmdir", |at| fs::remove_dir(at.outside.join("empty"))),
    real("symlink outside", |at| symlink("/", at.outside.join("new"))),
    real("mkfifo", |at| {
        check(unsafe { libc::mkfifo(c(&at.outside.join("new")).as_ptr(), 0o600) })
    }),
    real("write through a link to a folder", |at| {
        symlink(&at.outside, at.inside.join("link"))?;
        fs::write(at.inside.join("link/new"), "x")
    }),
    real("write through a link to a file", |at| {
        symlink(at.outside.join("victim"), at.inside.join("link"))?;
        append(&at.inside.join("link"))
    }),
    real("write through a folder that was replaced by a link", |at| {
        fs::create_dir(at.inside.join("folder"))?;
        fs::rename(at.inside.join("folder"), at.inside.join("old"))?;
        symlink(&at.outside, at.inside.join("folder"))?;
        fs::write(at.inside.join("folder/new"), "x")
    }),
    real("write through `..`", |at| {
        fs::write(at.inside.join("../outside/new"), "x")
    }),
    real("hard link inside to a file outside", |at| {
        fs::hard_link(at.outside.join("victim"), at.inside.join("hard"))?;
        append(&at.inside.join("hard"))
    }),
    real("hard link outside", |at| {
        fs::hard_link(at.inside.join("file"), at.outside.join("new"))
    }),
    real("rename out", |at| {
        fs::rename(at.inside.join("file"), at.outside.join("new"))
    }),
    real("rename in", |at| {
        fs::rename(at.outside.join("victim"), at.inside.join("new"))
    }),
    real("exchange", |at| {
        let (one, other) = (c(&at.inside.join("file")), c(&at.outside.join("victim")));
        let result = unsafe {
            libc::syscall(
                libc::SYS_renameat2,
                libc::AT_FDCWD,
                one.as_ptr(),
                libc::AT_FDCWD,
                other.as_ptr(),
                2,
            )
        };
        check(result as i32)
    }),
    real("unnamed file with a name", |at| {
        let flags = libc::O_TMPFILE | libc::O_WRONLY;
        let file = unsafe { libc::open(c(&at.outside).as_ptr(), flags, 0o600) };
        check(file)?;
        let name = CString::new(format!("/proc/self/fd/{file}"))?;
        let to = c(&at.outside.join("new"));
        check(unsafe {
            libc::linkat(
                libc::AT_FDCWD,
                name.as_ptr(),
                libc::AT_FDCWD,
                to.as_ptr(),
                libc::AT_SYMLINK_FOLLOW,
            )
        })
    }),
    real("reopen a handle of O_PATH", |at| {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(at.outside.join("victim"))?;
        append(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
    }),
    real("create below a handle of O_PATH", |at| {
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(&at.outside)?;
        check(unsafe { libc::mkdirat(folder.as_raw_fd(), c"new".as_ptr(), 0o700) })
    }),
    real("leave through /proc/self/root", |at| {
        write_below(Path::new("/proc/self/root"), at)
    }),
    real("leave through the root of the parent", |at| {
        write_below(Path::new(&format!("/proc/{}/root", at.parent)), at)
    }),
    real("leave through the folder of the parent", |at| {
        fs::read_dir(format!("/proc/{}/cwd/", at.parent)).map(drop)
    }),
    real("read where a descriptor of the parent leads", |at| {
        fs::read_link(format!("/proc/{}/fd/0", at.parent)).map(drop)
    }),
    real("open a file through a descriptor of the parent", |at| {
        append(Path::new(&format!("/proc/{}/fd/77", at.parent)))
    }),
    with_namespaces("change a mode", |at| {
        fs::set_permissions(at.outside.join("victim"), fs::Permissions::from_mode(0o600))
    }),
    with_namespaces("change times", |at| {
        check(unsafe {
            libc::utimensat(
                libc::AT_FDCWD,
                c(&at.outside.join("victim")).as_ptr(),
                std::ptr::null(),
                0,
            )
        })
    }),
    with_namespaces("write a protected file", |at| append(&at.inside.join(".git/config"))),
    with_namespaces("create in a protected folder", |at| {
        fs::write(at.inside.join(".git/hooks/pre-commit"), "x")
    }),
    with_namespaces("remove a protected file", |at| {
        fs::remove_file(at.inside.join(".git/config"))
    }),
    with_namespaces("replace a protected file", |at| {
        fs::rename(at.inside.join("file"), at.inside.join(".git/config"))
    }),
    with_namespaces("move the folder of a protected file", |at| {
        fs::rename(at.inside.join(".git"), at.inside.join("old"))
    }),
    real("read a hidden file", |at| read(&at.outside.join("secret/key"))),
    real("read a hidden file through a link", |at| {
        symlink(at.outside.join("secret"), at.inside.join("link"))?;
        read(&at.inside.join("link/key"))
    }),
    real("read a hidden file through /proc/self/root", |at| {
        read(&Path::new("/proc/self/root").join(at.outside.join("secret/key").strip_prefix("/").unwrap()))
    }),
    real("read a hidden file below a handle of O_PATH", |at| {
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(at.outside.join("secret"))?;
        let file = unsafe { libc::openat(folder.as_raw_fd(), c"key".as_ptr(), libc::O_RDONLY) };
        check(file)?;
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        fs::File::from(file).read(&mut [0]).map(drop)
    }),
    real("link to a hidden file", |at| {
        fs::hard_link(at.outside.join("secret/key"), at.inside.join("key"))?;
        read(&at.inside.join("key"))
    }),
    never("read /etc/shadow", |_| read(Path::new("/etc/shadow"))),
    never("write /etc/passwd", |_| {
        OpenOptions::new().append(true).open("/etc/passwd").map(drop)
    }),
    never("make a device", |at| {
        let device = libc::makedev(1, 1);
        check(unsafe { libc::mknod(c(&at.inside.join("mem")).as_ptr(), libc::S_IFCHR | 0o600, device) })
    }),
    never("open the memory of the machine", |_| read(Path::new("/dev/mem"))),
    never("open the log of the kernel", |_| read(Path::new("/dev/kmsg"))),
    never("open the terminal", |_| {
        OpenOptions::new().write(true).open("/dev/tty").map(drop)
    }),
    never("open the terminal of another program", |_| {
        OpenOptions::new().write(true).open("/dev/pts/0").map(drop)
    }),
    never("open a new terminal", |_| {
        OpenOptions::new().write(true).open("/dev/ptmx").map(drop)
    }),
    never("press a key of the kernel", |_| {
        OpenOptions::new().write(true).open("/proc/sysrq-trigger").map(drop)
    }),
    never("set the program for crashes", |_| {
        OpenOptions::new()
            .write(true)
            .open("/proc/sys/kernel/core_pattern")
            .map(drop)
    }),
    never("set a program for empty control groups", |_| {
        fs::create_dir("/sys/fs/cgroup/agcore-attempt")
    }),
    never("change parameters of the kernel", |_| {
        OpenOptions::new().write(true).open("/sys/kernel/mm/ksm/run").map(drop)
    }),
];

fn write_below(root: &Path, at: &Place) -> io::Result<()> {
    let outside = at.outside.strip_prefix("/").unwrap();
    fs::write(root.join(outside).join("new"), "x")
}

fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(b"x")
}

fn read(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.read(&mut [0]).map(drop)
}

pub(crate) fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

pub(crate) fn check(result: i32) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
