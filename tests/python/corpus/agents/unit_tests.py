import unittest


class T(unittest.TestCase):
    def setUp(self):
        self.x = 1

    def test_a(self):
        self.assertEqual(self.x, 1)

    def test_b(self):
        with self.assertRaises(ValueError):
            int("x")

    @unittest.skip("later")
    def test_c(self):
        pass

    def test_d(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertLess(i, 5)


class M(unittest.IsolatedAsyncioTestCase):
    async def test_x(self):
        self.assertTrue(True)


if __name__ == "__main__":
    from unittest import mock

    with mock.patch("os.getcwd", return_value="/m"):
        import os

        print(os.getcwd())
    unittest.main(verbosity=0, exit=False, argv=["x"])
    print("ok")
